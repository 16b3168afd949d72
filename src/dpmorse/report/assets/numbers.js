// The table of clusters: numbers with their intervals and notes beside them; without a profile, sizes with the
// noise of the last release.

const notes = []; // texts that have a mark in the table, in the order of their numbers

function drawClusterTable(cut) {
  byId("records-choice").hidden = measured;
  notes.length = 0;
  byId("cluster-table").replaceChildren(...tableParts(cut));
  byId("other-tables").replaceChildren(...(state.printing ? otherTables(cut) : []));
  byId("cluster-caption").textContent = [...(measured ? measuredCaption() : clusterCaption()),
    ...columnsLeftOut()].join(" ");
  byId("cautions").hidden = !notes.length;
  byId("cautions-count").textContent = `${notes.length} caution${notes.length === 1 ? "" : "s"} about these numbers`;
  byId("notes").replaceChildren(...notes.map((text, i) =>
    make("li", {id: `note-${i + 1}`}, data.numbers.texts[text])));
}

const tableParts = (cut) => [tableHead(), tableBody(cut), tableFoot()];

// Paper has no menu: all columns follow in tables of their own.
function otherTables(cut) {
  const found = [];
  for (state.group = 1; state.group * PRINTED < nEntries; state.group++) {
    found.push(make("table", {}, ...tableParts(cut)));
  }
  state.group = 0;
  return found;
}

// -- notes -----------------------------------------------------------------------------------------

// Marks of the notes of one kind about a cluster.
const marks = (cluster, kind) => (cluster.row.notes[kind] || []).map(mark);

function mark(text) {
  if (!notes.includes(text)) notes.push(text);
  const number = notes.indexOf(text) + 1, words = data.numbers.texts[text];
  return make("a", {class: "mark", href: `#note-${number}`, title: words,
                    "aria-label": `Note ${number}: ${words}`}, String(number));
}

// -- rows ------------------------------------------------------------------------------------------

function tableHead() {
  const shown = groupEntries(), sizes = sizeHeadings();
  const named = shown.map((entry) => {
    const name = nameHeading(entry, measures(entry).length);
    name.prepend(...data.numbers.columns[entry.place].map(mark)); // at the front: a long name is cut
    return name;
  });
  return make("thead", {},
    make("tr", {}, heading("Group", {rowspan: 2}), heading("Components", {rowspan: 2, class: "soft"}),
      heading("Size", {class: "name start", colspan: sizes.length}), ...named),
    make("tr", {}, ...sizes, ...shown.flatMap(measures)));
}

const sizeHeadings = () => [subHeading("share", "start"),
  ...(measured || state.records ? [subHeading("records")] : []),
  ...(measured ? [] : [subHeading("noise, records")])];

function measures(entry) {
  const own = isNumber(entry) ? ["median", "half between"] : ["most frequent"];
  return [...own, ...(mayMiss(entry) ? ["missing"] : [])].map((text, i) =>
    subHeading(text, `${i ? "" : "start"} ${isNumber(entry) || i ? "" : "words"}`));
}

function tableBody(cut) {
  const largest = Math.max(...cut.clusters.map((cluster) => cluster.share));
  return make("tbody", {}, ...cut.clusters.map((cluster) => make("tr", {},
    make("th", {scope: "row"}, swatch(cluster.colour), String(cluster.number), ...marks(cluster, "unknown")),
    cell(String(cluster.members.length), "soft"),
    ...sizeCells(cluster, [bar(cluster, largest)]),
    ...groupEntries().flatMap((entry) => entryCells(cluster.row, entry)))));
}

function tableFoot() {
  const all = {row: {...whole, notes: {}}, share: 1}; // its notes would be those of the only cluster
  return make("tfoot", {}, make("tr", {}, make("th", {scope: "row"}, "All"), cell(String(withWeight.length), "soft"),
    ...sizeCells(all), ...groupEntries().flatMap((entry) => entryCells(whole, entry))));
}

function bar(cluster, largest) {
  const inner = make("span");
  inner.style.width = `${100 * cluster.share / largest}%`;
  inner.style.backgroundColor = colour(cluster.colour);
  return make("span", {class: "bar", "aria-hidden": "true"}, inner);
}

// -- cells -----------------------------------------------------------------------------------------

function sizeCells(cluster, before = []) {
  const {row, share} = cluster, about = (records) => cell("\u2248 " + fixed(records, 0));
  const found = marks(cluster, "size");
  const shareCell = estimate(inPercent(row.share), "start", {found, unit: " %", before});
  if (measured) return [shareCell, about(row.records)];
  const counted = state.records ? [about(share * state.records)] : [], {noise} = row;
  if (noise === null) return [shareCell, ...counted, cell(seeLedger(), "noise")];
  const percent = state.records ? ` (${showShort(100 * shareNoise(cluster))} %)` : "";
  return [shareCell, ...counted, cell(showNoise(noise) + percent, "noise")];
}

// Noise of a share of the records: the number of all others is in the denominator.
function shareNoise({row, share}) {
  const mine = row.noise ** 2, others = whole.noise ** 2 - mine;
  return Math.sqrt((1 - share) ** 2 * mine + share ** 2 * others) / state.records;
}

function entryCells(row, entry) {
  const gaps = mayMiss(entry) ? [estimate(fromParts(row.missing[entry.place]), null, {unit: " %"})] : [];
  if (!isNumber(entry)) return [levelsCell(row.levels[entry.category], entry), ...gaps];
  const [q1, median, q3] = row.numbers[entry.number];
  const as = (value, text) => valueText(entry, value, text);
  const kind = entry.kind === "rank" ? "rank" : ""; // ranks have names, which may be long
  return [estimate(median, `start ${kind}`, {as}), cell(halfText(q1, q3, as), kind), ...gaps];
}

// The values between which half of all lie, with as many decimals as both deserve.
function halfText(q1, q3, as) {
  if (q1 === null || q3 === null) return NOT_KNOWN;
  const text = numberText([null, q1[0], q3[0], Math.min(q1[3], q3[3])]);
  return `${as(q1[0], text)} to ${as(q3[0], text)}`;
}

const seeLedger = () => make("a", {href: "#ledger"}, "see ledger");

const inPercent = ([value, low, high, decimals]) =>
  [100 * value, low === null ? null : 100 * low, high === null ? null : 100 * high, decimals - 2];

// Shares of levels and of gaps are stored as hundredths of a percent.
function fromParts(share) {
  if (share === null) return null;
  const [value, low, high] = share, half = (high - low) / 200;
  const decimals = half > 0 ? Math.min(2, Math.max(0, 1 - Math.floor(Math.log10(half)))) : 1;
  return [value / 100, low === null ? null : low / 100, high === null ? null : high / 100, decimals];
}

const numberText = ([, low, high, decimals]) => {
  const plain = decimals <= 7 && Math.max(Math.abs(low), Math.abs(high)) < 1e12;
  return (number) => (plain ? fixed(number, decimals) : withMinus(number.toPrecision(5)));
};

// A number, and below it its interval, if it has one.
function estimate(number, kind, {found = [], unit = "", before = [], as = (value, text) => text(value)} = {}) {
  if (number === null) return cell(NOT_KNOWN, kind);
  const [value, low, high] = number, text = (end) => as(end, numberText(number));
  return make("td", {class: kind}, ...before, make("span", {class: "value"}, text(value) + unit), ...found,
    ...(low === null ? [] : [make("span", {class: "interval"}, `${text(low)} to ${text(high)}`)]));
}

// The most frequent levels of a category, each with its share and interval.
function levelsCell(shares, entry) {
  const shown = mostFrequent(shares), more = shares.length - shown.length;
  if (!shown.length) return cell(NOT_KNOWN, "start words");
  const lines = shown.map((place) => {
    const number = fromParts(shares[place]), text = numberText(number), [value, low, high] = number;
    return make("span", {class: "level"}, make("span", {class: "level-name"}, entry.levels[place]), " ",
      `${text(value)} %`, ...(low === null ? [] : [
        make("span", {class: "interval inline"}, ` ${text(low)} to ${text(high)}`)]));
  });
  return make("td", {class: "start words"}, ...lines,
    ...(more > 0 ? [make("span", {class: "interval"}, `and ${more} more`)] : []));
}

// -- caption ---------------------------------------------------------------------------------------

const OF_NUMBERS = "median of each column within the group, in the units of the data, and the values between " +
  "which half of the group's values lie";
const OF_LEVELS = data.categories.length ? ["Of a category the most frequent values are listed, each with the " +
  "share of all records of the group that have it."] : [];

const measuredCaption = () => [
  `Share of the records; ${OF_NUMBERS}; below each number its interval.`, ...OF_LEVELS,
  ...(entries.some(mayMiss) ? ["Missing: the share of the group's records without a value."] : []),
  data.numbers.about,
  ...(notes.length ? ["Numbers in small marks are those of the notes below."] : []),
];

function clusterCaption() {
  const words = [data.numbers.about, `Share: sum of the released weights; ${OF_NUMBERS}, by the released mixture.`,
    ...OF_LEVELS];
  if (whole.noise !== null) {
    words.push("Noise: standard deviation of the noise of the last release in a size, in records, added up over the " +
      "components of the group; sampling error and what earlier rounds did to the components come on top. The " +
      "noise of medians is not known; the ledger has all noise that was added.");
  }
  if (whole.noise !== null && !state.records) words.push(CONDITIONAL);
  return words;
}

const columnsLeftOut = () => (nEntries < data.n_columns
  ? [`Shown are the ${nEntries} of ${data.n_columns} columns in which components differ most.`] : []);

const CONDITIONAL = "The number of records is not released. If it is public, enter it above: it stays on this page.";

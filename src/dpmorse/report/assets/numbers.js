// The table of clusters where a profile was released: numbers with their intervals, and notes beside them.

const notes = []; // texts that have a mark in the table, in the order of their numbers

const mayBeNoise = (cluster) => cluster.row !== null && !cluster.row.supported;

// Marks of the notes of one kind about a cluster; those of one column, if it is given.
function marks(cluster, kind, column = null) {
  const found = cluster.row === null ? [] : cluster.row.notes[kind] || [];
  return found.filter(([, about]) => about === column).map(([text]) => mark(text));
}

function mark(text) {
  if (!notes.includes(text)) notes.push(text);
  const number = notes.indexOf(text) + 1, words = data.numbers.texts[text];
  return make("a", {class: "mark", href: `#note-${number}`, title: words,
                    "aria-label": `Note ${number}: ${words}`}, String(number));
}

const spanOf = (entry) => (isNumber(entry) ? 2 : 1) + (entry.missing ? 1 : 0);

function measuredHead() {
  const shown = groupEntries();
  const named = shown.map((entry) => {
    const name = nameHeading(entry, spanOf(entry));
    name.prepend(...data.numbers.columns[entry.place].map(mark)); // at the front: a long name is cut
    return name;
  });
  return make("thead", {},
    make("tr", {}, heading("Cluster", {rowspan: 2}), heading("Components", {rowspan: 2}),
      heading("Size", {class: "name start", colspan: 2}), ...named),
    make("tr", {}, subHeading("share", "start"), subHeading("records"), ...shown.flatMap(measures)));
}

function measures(entry) {
  const own = isNumber(entry) ? [subHeading("centre", "start"), subHeading("spread")]
    : [subHeading("most frequent", "start words")];
  return entry.missing ? [...own, subHeading("missing")] : own;
}

function measuredBody(cut) {
  const largest = Math.max(...cut.clusters.map((cluster) => cluster.share));
  return make("tbody", {}, ...cut.clusters.map((cluster) => make("tr", {},
    make("th", {scope: "row"}, swatch(cluster.colour), String(cluster.number), ...marks(cluster, "tail")),
    cell(String(cluster.members.length), "soft"),
    ...(cluster.row === null ? emptyCells() : measuredCells(cluster, largest)))));
}

const emptyCells = () => [cell(NONE, "start"), cell(NONE), ...groupEntries().flatMap((entry) =>
  measures(entry).map((_, i) => cell(NONE, i ? null : "start")))];

function measuredCells(cluster, largest) {
  const {row} = cluster;
  return [
    estimate(inPercent(row.share), "start", {found: marks(cluster, "size"), unit: " %",
                                             before: [bar(cluster, largest)]}),
    cell("\u2248 " + fixed(Math.max(row.records, 0), 0)),
    ...groupEntries().flatMap((entry) => entryCells(row, entry, marks(cluster, "spread", entry.place))),
  ];
}

function entryCells(row, entry, found = []) {
  const gaps = entry.missing ? [estimate(fromParts(row.missing[entry.place]), null, {unit: " %"})] : [];
  if (!isNumber(entry)) return [levelsCell(row.levels[entry.category], entry), ...gaps];
  const [centre, spread] = [row.centre[entry.number], row.spread[entry.number]];
  return [
    estimate(centre, "start", {as: (value, text) => valueText(entry, value, text),
                               unit: besideCentre(entry, centre[0])}),
    estimate(spread, null, {found, unit: spreadUnit(entry)}), ...gaps];
}

const inPercent = ([value, low, high, decimals]) => [100 * value, 100 * low, 100 * high, decimals - 2];

// Shares of levels and of gaps are stored as hundredths of a percent.
function fromParts([value, low, high]) {
  const half = (high - low) / 200;
  const decimals = half > 0 ? Math.min(2, Math.max(0, 1 - Math.floor(Math.log10(half)))) : 1;
  return [value / 100, low / 100, high / 100, decimals];
}

const numberText = ([, low, high, decimals]) => {
  const plain = decimals <= 7 && Math.max(Math.abs(low), Math.abs(high)) < 1e9;
  return (number) => (plain ? fixed(number, decimals) : withMinus(number.toPrecision(5)));
};

// A number, and below it its interval.
function estimate(numbers, kind, {found = [], unit = "", before = [], as = null} = {}) {
  const [value, low, high] = numbers, plain = numberText(numbers);
  const text = (number) => (as === null ? plain(number) : as(number, plain));
  return make("td", {class: kind}, ...before, make("span", {class: "value"}, text(value) + unit), ...found,
    make("span", {class: "interval"}, `${text(low)} to ${text(high)}`));
}

// The most frequent levels of a category, each with its share and interval.
function levelsCell(shares, entry) {
  const shown = mostFrequent(shares.map(([share]) => share));
  const lines = shown.map((place) => {
    const numbers = fromParts(shares[place]), text = numberText(numbers);
    return make("span", {class: "level"}, make("span", {class: "level-name"}, entry.levels[place]), " ",
      `${text(numbers[0])} %`, make("span", {class: "interval inline"},
        ` ${text(numbers[1])} to ${text(numbers[2])}`));
  });
  const more = shares.length - shown.length;
  return make("td", {class: "start words"}, ...lines,
    ...(more > 0 ? [make("span", {class: "interval"}, `and ${more} more`)] : []));
}

function measuredFoot() {
  return make("tfoot", {}, make("tr", {}, make("th", {scope: "row"}, "All"), cell(String(withWeight.length)),
    cell(showShare(1), "start"), cell("\u2248 " + fixed(whole.records, 0)),
    ...groupEntries().flatMap((entry) => entryCells(whole, entry))));
}

const measuredCaption = () => [
  "Share of the records; mean (centre) and standard deviation (spread) of each column within the cluster, in " +
  "the units of the data; below each number its interval.",
  ...(data.categories.length ? ["Of a category the most frequent values are listed: the share of those " +
    "records of the cluster in which it is known."] : []),
  ...(entries.some((entry) => entry.missing) ? ["Missing: the share of the cluster's records without a value."]
    : []),
  data.numbers.about,
  "The number of records was released with noise, too.",
  ...columnsLeftOut(),
  ...(notes.length ? ["Numbers in small marks are those of the notes below."] : []),
];

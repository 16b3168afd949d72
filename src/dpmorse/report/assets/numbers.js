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

function drawMeasuredTable(cut) {
  notes.length = 0;
  byId("cluster-table").replaceChildren(measuredHead(), measuredBody(cut), measuredFoot());
  byId("cluster-caption").textContent = measuredCaption().join(" ");
  byId("notes").replaceChildren(...notes.map((text, i) =>
    make("li", {id: `note-${i + 1}`}, data.numbers.texts[text])));
}

function measuredHead() {
  const columns = groupColumns();
  const named = columns.map((column) => {
    const name = nameHeading(column, 2);
    name.prepend(...data.numbers.columns[column].map(mark)); // at the front: a long name is cut
    return name;
  });
  return make("thead", {},
    make("tr", {}, heading("Cluster", {rowspan: 2}), heading("Components", {rowspan: 2}),
      heading("Size", {class: "name start", colspan: 2}), ...named),
    make("tr", {}, subHeading("share", "start"), subHeading("records"),
      ...columns.flatMap(() => [subHeading("centre", "start"), subHeading("spread")])));
}

function measuredBody(cut) {
  const largest = Math.max(...cut.clusters.map((cluster) => cluster.share));
  return make("tbody", {}, ...cut.clusters.map((cluster) => make("tr", {},
    make("th", {scope: "row"}, swatch(cluster.colour), String(cluster.number), ...marks(cluster, "tail")),
    cell(String(cluster.members.length), "soft"),
    ...(cluster.row === null ? emptyCells() : measuredCells(cluster, largest)))));
}

const emptyCells = () => [cell(NONE, "start"), cell(NONE),
  ...groupColumns().flatMap(() => [cell(NONE, "start"), cell(NONE)])];

function measuredCells(cluster, largest) {
  const {row} = cluster;
  return [
    estimate(inPercent(row.share), "start", marks(cluster, "size"), " %", [bar(cluster, largest)]),
    cell("\u2248 " + fixed(Math.max(row.records, 0), 0)),
    ...groupColumns().flatMap((column) => [estimate(row.centre[column], "start"),
      estimate(row.spread[column], null, marks(cluster, "spread", column))]),
  ];
}

const inPercent = ([value, low, high, decimals]) => [100 * value, 100 * low, 100 * high, decimals - 2];

// A number, and below it its interval.
function estimate([value, low, high, decimals], kind, found = [], unit = "", before = []) {
  const plain = decimals <= 7 && Math.max(Math.abs(low), Math.abs(high)) < 1e9;
  const text = (number) => (plain ? fixed(number, decimals) : withMinus(number.toPrecision(5)));
  return make("td", {class: kind}, ...before, make("span", {class: "value"}, text(value) + unit), ...found,
    make("span", {class: "interval"}, `${text(low)} to ${text(high)}`));
}

function measuredFoot() {
  const totals = groupColumns().flatMap((column) =>
    [estimate(whole.centre[column], "start"), estimate(whole.spread[column], null)]);
  return make("tfoot", {}, make("tr", {}, make("th", {scope: "row"}, "All"), cell(String(withWeight.length)),
    cell(showShare(1), "start"), cell("\u2248 " + fixed(whole.records, 0)), ...totals));
}

const measuredCaption = () => [
  "Share of the records; mean (centre) and standard deviation (spread) of each column within the cluster, in " +
  "the units of the data; below each number its interval.",
  data.numbers.about,
  "The number of records was released with noise, too.",
  ...columnsLeftOut(),
  ...(notes.length ? ["Numbers in small marks are those of the notes below."] : []),
];

// The columns of the table: numbers, ranks and dates have a median and quartiles, categories have levels.

// In the order of the table; `number` and `category` are the places among columns of that kind.
const entries = (() => {
  let number = 0, category = 0;
  return data.table.map((kind, place) => (kind === "number"
    ? {...data.columns[number], place, number: number++}
    : {...data.categories[category], place, category: category++}));
})();

// What people call a column, with its unit; its own name is that of files.
for (const entry of entries) {
  entry.key = entry.name;
  entry.called = entry.label || entry.name;
  entry.name = entry.called + (entry.unit_in_words ? ` (${entry.unit_in_words})` : "");
}
data.columns.forEach((column, number) => { column.shown = entries.find((entry) => entry.number === number).name; });
const axisName = (axis) => (data.columns[data.axes.indexOf(axis)] || {shown: axis.name}).shown;

const isNumber = (entry) => entry.number !== undefined;
const nEntries = entries.length;

const GROUP = data.categories.length ? 3 : 4; // columns of the data that one table shows at a time
const nGroups = Math.ceil(nEntries / GROUP);
const PRINTED = entries.some((entry) => !isNumber(entry) || entry.missing) ? 2 : 3; // paper is narrow

// The chosen columns: a group of them, or all beyond the last group.
function groupEntries() {
  const size = state.printing ? PRINTED : GROUP;
  return !state.printing && state.group >= nGroups
    ? entries : entries.slice(state.group * size, (state.group + 1) * size);
}

const DAY = 86400000; // milliseconds
const dateText = (column, value) => {
  const day = new Date((column.first || 0) * DAY + Math.round(value) * DAY);
  return Number.isNaN(day.getTime()) ? "\u2013" : day.toISOString().slice(0, 10);
};

const rankText = (column, value) =>
  column.levels[Math.min(column.levels.length - 1, Math.max(0, Math.round(value)))];

// A value of a column as its kind is read; `text` writes plain numbers.
function valueText(column, value, text) {
  if (column.kind === "date") return dateText(column, value);
  return column.kind === "rank" ? rankText(column, value) : text(value);
}

// Shares of missing values were measured; those of a category add up to all records with its levels.
const mayMiss = (entry) => measured && entry.missing;
const partsOf = (row, entry) =>
  [...row.levels[entry.category], ...(mayMiss(entry) ? [row.missing[entry.place]] : [])];
const partNames = (entry) => [...entry.levels, ...(mayMiss(entry) ? ["missing"] : [])];

const heading = (text, attributes = {}) => make("th", {scope: "col", ...attributes}, text);
const subHeading = (text, more = "") => heading(text, {class: `sub ${more}`});
const nameHeading = (entry, span) =>
  heading(entry.name, {class: "name start", colspan: span, title: entry.name});
const cell = (content, kind = null) => make("td", {class: kind}, content);
const NONE = "\u2013";
const NOT_KNOWN = "not known";

const SHOWN_LEVELS = 3; // in a cell of the table; all are in the pictures and in the file

// Places of the most frequent levels, those first that are largest; none if they are not known.
function mostFrequent(shares, most = SHOWN_LEVELS) {
  const places = [...shares.keys()].filter((place) => shares[place] !== null);
  return places.sort((a, b) => shares[b][0] - shares[a][0]).slice(0, most);
}

// Side by side: a row for each column, a dot with an interval for each group, one scale for all of them. Places are
// medians, in robust standard deviations of all records from the median of all.

const MOST_COLUMNS = 8; // at first, those in which groups differ most; a button shows the others

function drawProfile(cut) {
  const svg = byId("profile"), ranked = rankedColumns(cut);
  const shown = foldedList("all-columns", ranked, MOST_COLUMNS, "columns");
  const frame = profileFrame(cut, shown), known = shown.some((column) => column.dots.length);
  svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  svg.setAttribute("aria-label", `Medians of ${cut.k} groups in ${shown.length} columns`);
  svg.replaceChildren(...profileAxes(frame, shown), ...shown.flatMap((column, row) =>
    column.dots.flatMap((dot, i) => dotShapes(frame, dot, dotHeight(frame, row, i)))),
  ...(known ? [] : [shape("text", {x: frame.width / 2, y: 14, "text-anchor": "middle"},
    fitted(`The medians are ${NOT_KNOWN}: noise hides them.`, frame.width))]));
  byId("profile-caption").textContent = profileCaption(shown.length);
}

const profileCaption = (nShown) => "The median of each group in each column, less the median of all records, in " +
  "robust standard deviations of all records (explained in the technical part)" +
  (measured ? "; lines are intervals" : "") + ". Columns in which groups differ most come first" +
  (nShown < nColumns ? `; ${nColumns - nShown} more are folded.` : ".");

// Null where the median of the group, or that of all records, is not known.
function inUnits(value, column) {
  const middle = medianOf(whole, column);
  return value === null || middle === null ? null : (value - middle) / data.columns[column].unit;
}

function rankedColumns(cut) {
  const columns = data.columns.map(({shown}, column) => ({name: shown, column, dots: cut.clusters.map((cluster) =>
    ({cluster, column, value: inUnits(medianOf(cluster.row, column), column)})).filter(({value}) => value !== null)}));
  const strength = ({dots}) => Math.max(0, ...dots.map(({value}) => Math.abs(value)));
  return columns.sort((a, b) => strength(b) - strength(a) || a.column - b.column);
}

function profileFrame(cut, shown) {
  const width = Math.max(byId("profile").clientWidth || 1100, 280), spread = Math.min(cut.k, 12);
  const names = Math.max(...shown.map(({name}) => widthOf(name, 600)));
  const frame = {width, left: Math.min(names + 14, 0.36 * width), right: 16, top: 20, spread};
  frame.row = Math.max(24, 8 * spread + 8);
  frame.floor = frame.top + frame.row * shown.length;
  frame.height = frame.floor + 40;
  const values = shown.flatMap(({dots}) => dots.map(({value}) => value));
  [frame.low, frame.high] = [Math.min(-0.5, ...values) * 1.08, Math.max(0.5, ...values) * 1.08];
  frame.x = (value) => frame.left + (width - frame.left - frame.right) * (value - frame.low) / (frame.high - frame.low);
  return frame;
}

const dotHeight = (frame, row, i) => frame.top + row * frame.row + 8 + 8 * (i % frame.spread);

function profileAxes(frame, shown) {
  const right = frame.width - frame.right, marks = ticks(frame.low, frame.high, (right - frame.left) / 90);
  return [
    ...marks.values.flatMap((value) => [
      shape("line", {class: Math.abs(value) < 1e-9 ? "zero" : "axis", x1: frame.x(value), x2: frame.x(value),
                     y1: frame.top, y2: frame.floor}),
      shape("text", {x: frame.x(value), y: frame.floor + 15, "text-anchor": "middle"}, marks.text(value)),
    ]),
    ...shown.flatMap(({name}, row) => {
      const y = frame.top + row * frame.row;
      const label = shape("text", {x: frame.left - 8, y: y + frame.row / 2 + 4, "text-anchor": "end", class: "strong"},
        fitted(name, frame.left - 10, 600));
      label.append(shape("title", {}, name));
      return [shape("line", {class: "axis", x1: 0, x2: right, y1: y, y2: y}), label];
    }),
    shape("text", {x: (frame.left + right) / 2, y: frame.floor + 33, "text-anchor": "middle"},
      fitted("robust standard deviations from all records", right - frame.left)),
  ];
}

// The interval of a median, as far as it is inside the picture.
function dotShapes(frame, {cluster, column, value}, y) {
  const [, low, high] = cluster.row.numbers[column][1], ink = colour(cluster.colour);
  const inside = (end) => frame.x(Math.min(frame.high, Math.max(frame.low, inUnits(end, column))));
  const whisker = low === null ? [] : [shape("line", {class: "whisker", x1: inside(low), x2: inside(high), y1: y, y2: y,
                                                      stroke: ink, "stroke-width": 2})];
  const dot = shape("circle", {class: "profile-dot", cx: frame.x(value), cy: y, r: 4, fill: ink});
  dot.append(shape("title", {}, `group ${cluster.number}, ${data.columns[column].shown}`));
  return [...whisker, dot];
}

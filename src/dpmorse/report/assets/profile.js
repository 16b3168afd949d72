// Profiles: the median of every cluster, column by column, in robust standard deviations of all records.

function drawProfile(cut) {
  const svg = byId("profile"), frame = profileFrame(cut);
  svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  svg.setAttribute("aria-label", `Profiles of ${cut.k} clusters over ${nColumns} columns`);
  const lines = cut.clusters.map((cluster) => ({cluster, points: pointsOf(frame, cluster)}))
    .filter(({points}) => points.length);
  svg.replaceChildren(...profileAxes(frame), ...lines.flatMap((line) => profileLine(frame, line)),
    ...endLabels(frame, lines), ...(lines.length ? [] : [shape("text", {x: frame.width / 2, y: frame.y(0) - 8,
      "text-anchor": "middle"}, `The medians are ${NOT_KNOWN}: noise hides them.`)]));
}

const steep = nColumns > 25; // names of columns need room

// Null where the median of the cluster, or that of all records, is not known.
function inUnits(value, column) {
  const middle = medianOf(whole, column);
  return value === null || middle === null ? null : (value - middle) / data.columns[column].unit;
}

const scaled = (cluster, column) => inUnits(medianOf(cluster.row, column), column);

// The columns in which something is known of a cluster, and where it lies.
const pointsOf = (frame, cluster) => [...data.columns.keys()].filter((column) => scaled(cluster, column) !== null)
  .map((column) => ({column, x: frame.x(column), y: frame.y(scaled(cluster, column))}));

function profileFrame(cut) {
  const width = Math.max(byId("profile").clientWidth || 1100, 280);
  const slanted = data.columns.some((column) => 7.4 * column.name.length > (width - 110) / nColumns);
  const longest = Math.min(24, Math.max(...data.columns.map((column) => column.name.length)));
  const bottom = slanted ? 22 + (steep ? 6.2 : 4.6) * longest : 30;
  const frame = {width, left: 52, right: 46, top: 12, bottom, slanted};
  frame.height = 270 + frame.bottom;
  frame.floor = frame.height - frame.bottom;
  const values = cut.clusters.flatMap((cluster) => data.columns.map((_, column) => scaled(cluster, column) || 0));
  frame.low = Math.min(-0.5, ...values) * 1.08;
  frame.high = Math.max(0.5, ...values) * 1.08;
  const inner = width - frame.left - frame.right;
  frame.x = (column) => frame.left + inner * (column + 0.5) / nColumns;
  const tall = frame.floor - frame.top;
  frame.y = (value) => frame.floor - tall * (value - frame.low) / (frame.high - frame.low);
  return frame;
}

function profileAxes(frame) {
  const right = frame.width - frame.right, marks = ticks(frame.low, frame.high, 6);
  const every = Math.ceil(nColumns / Math.max(1, (right - frame.left) / 16));
  return [
    ...marks.values.flatMap((value) => [
      shape("line", {class: Math.abs(value) < 1e-9 ? "zero" : "axis", x1: frame.left, x2: right,
                     y1: frame.y(value), y2: frame.y(value)}),
      shape("text", {x: frame.left - 7, y: frame.y(value) + 4, "text-anchor": "end"}, marks.text(value)),
    ]),
    ...data.columns.flatMap((column, i) => [
      shape("line", {class: "axis", x1: frame.x(i), x2: frame.x(i), y1: frame.top, y2: frame.floor}),
      ...(i % every ? [] : [columnLabel(frame, column, i)]),
    ]),
    shape("text", {transform: `translate(12 ${(frame.top + frame.floor) / 2}) rotate(-90)`,
                   "text-anchor": "middle"}, "robust standard deviations"),
  ];
}

function columnLabel(frame, column, i) {
  const x = frame.x(i), y = frame.floor + 16;
  const label = shape("text", frame.slanted
    ? {transform: `translate(${x + 4} ${y - 3}) rotate(${steep ? -60 : -38})`, "text-anchor": "end"}
    : {x, y, "text-anchor": "middle"}, shorten(column.name, 24));
  label.append(shape("title", {}, column.name));
  return label;
}

// The line is broken where a median is not known.
function profileLine(frame, {cluster, points}) {
  const ink = colour(cluster.colour), radius = nColumns > 30 ? 2 : 3.2;
  const path = points.map(({column, x, y}, i) =>
    `${i && points[i - 1].column === column - 1 ? "L" : "M"}${x} ${y}`).join("");
  const line = shape("path", {d: path, fill: "none", class: "profile-line", stroke: ink, "stroke-width": 2});
  line.append(shape("title", {}, `cluster ${cluster.number}`));
  const dots = points.map(({x, y}) => shape("circle", {cx: x, cy: y, r: radius, fill: ink}));
  return [line, ...points.flatMap((point) => whiskers(frame, cluster, point)), ...dots];
}

// The interval of a median, as far as it is inside the picture.
function whiskers(frame, cluster, {column, x}) {
  const [, low, high] = cluster.row.numbers[column][1];
  const inside = (value) => frame.y(Math.min(frame.high, Math.max(frame.low, inUnits(value, column))));
  return low === null ? [] : [shape("line", {class: "whisker", x1: x, x2: x, y1: inside(low), y2: inside(high),
                                             stroke: colour(cluster.colour), "stroke-width": 1.2})];
}

// Numbers at the right end, pushed apart; left out where there is no room for them.
function endLabels(frame, lines) {
  if (lines.length > 18) return [];
  const labels = lines.map(({cluster, points}) => ({cluster, ...points[points.length - 1]}));
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((label, i) => { if (i) label.y = Math.max(label.y, labels[i - 1].y + 13); });
  const over = labels.length ? Math.max(0, labels[labels.length - 1].y - frame.floor) : 0;
  return labels.map(({cluster, x, y}) => shape("text",
    {x: x + 9, y: y + 4 - over, class: "strong halo"}, String(cluster.number)));
}

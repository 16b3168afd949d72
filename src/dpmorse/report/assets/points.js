// What lies above the density: axes, modes and saddles; and the density of a single column.

// Ticks as the column is read: dates as months, ranks by name.
function tickText(axis, marks, value, width) {
  const column = data.columns[data.axes.indexOf(axis)];
  if (column === undefined || column.kind === "number") return marks.text(value);
  if (column.kind === "date") return dateText(column, value).slice(0, 7);
  return Number.isInteger(value) && column.levels[value] !== undefined ? fitted(column.levels[value], width) : "";
}

function frameShapes(frame) {
  const [x, y] = frame.axes, right = frame.left + frame.wide, floor = frame.top + frame.tall;
  const across = ticks(x.low, x.high, frame.wide / 80), up = ticks(y.low, y.high, frame.tall / 50);
  return [
    shape("rect", {class: "axis", x: frame.left, y: frame.top, width: frame.wide, height: frame.tall}),
    ...across.values.flatMap((value) => [
      shape("line", {class: "axis", x1: frame.x(value), x2: frame.x(value), y1: floor, y2: floor + 4}),
      shape("text", {x: frame.x(value), y: floor + 17, "text-anchor": "middle"}, tickText(x, across, value, 74)),
    ]),
    ...(onLine ? [] : up.values.flatMap((value) => [
      shape("line", {class: "axis", x1: frame.left - 4, x2: frame.left, y1: frame.y(value),
                     y2: frame.y(value)}),
      shape("text", {x: frame.left - 7, y: frame.y(value) + 4, "text-anchor": "end"}, tickText(y, up, value, frame.left - 10)),
    ])),
    shape("text", {x: (frame.left + right) / 2, y: frame.height - 6, "text-anchor": "middle",
                   class: "strong"}, fitted(axisName(x), frame.wide, 600)),
    shape("text", {transform: `translate(12 ${(frame.top + floor) / 2}) rotate(-90)`, "text-anchor": "middle",
                   class: "strong"}, onLine ? "density" : fitted(axisName(y), frame.tall, 600)),
  ];
}

const crowded = data.modes.length > 40; // then marks are small and have no numbers
const at = (point, frame) => [frame.x(point[view.axes[state.x]]), frame.y(point[view.axes[state.y]])];

// The saddles over which modes merge, with the way from mode to mode.
function saddleShapes(frame, place = at) {
  return data.saddles.filter((saddle) => saddle.merges).flatMap((saddle) => {
    const [x, y] = place(saddle.point, frame);
    const ends = saddle.modes.map((mode) => place(data.modes[mode].point, frame));
    const path = `M${ends[0].join(" ")}L${x} ${y}L${ends[1].join(" ")}`;
    const r = crowded ? 2.2 : 4;
    const cross = `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;
    const mark = shape("path", {d: cross, "stroke-width": crowded ? 1 : 2, fill: "none",
                                stroke: paint(saddle.certified ? "--ink" : "--bad"), class: "saddle"});
    const words = saddle.certified ? "certified" : "not certified";
    mark.append(shape("title", {}, `saddle between modes ${saddle.modes.join(" and ")}, ${words}`));
    return onLine ? [mark] : [
      shape("path", {d: path, fill: "none", stroke: paint(saddle.certified ? "--ink" : "--bad"),
                     "stroke-width": 1, "stroke-opacity": crowded ? 0.35 : 0.65,
                     "stroke-dasharray": saddle.certified ? null : "5 4"}),
      mark,
    ];
  });
}

function modeShapes(frame, cut, place = at) {
  return data.modes.flatMap((mode, i) => {
    const [x, y] = place(mode.point, frame);
    const ring = shape("circle", {cx: x, cy: y, r: crowded ? 3 : 5.5, fill: colour(cut.colourOf(mode.leaf)),
                                  stroke: paint(mode.certified ? "--ink" : "--bad"),
                                  "stroke-width": crowded ? 1 : 1.6, class: "mode"});
    ring.append(shape("title", {}, `mode ${i}, cluster ${cut.labels[mode.leaf]}` +
      (mode.certified ? "" : ", not certified") +
      (mayBeNoise(cut.clusters[cut.labels[mode.leaf]]) ? ", which may be noise" : "")));
    return crowded
      ? [ring] : [ring, shape("text", {x: x + 8, y: y - 6, class: "strong halo"},
        String(cut.labels[mode.leaf]))];
  });
}

// -- one column ------------------------------------------------------------------------------------

// A filled curve, tinted column by column, and the synthetic records as a rug below it.
function drawLine(context, overlay, frame, cut) {
  const n = 400, curve = densityCurve(cut, frame.axes[0], n);
  const foot = frame.top + frame.tall - 26, tall = frame.tall - 34;
  const heightAt = (i) => foot - tall * curve.total[i] / curve.highest;
  fillCurve(context, frame, curve, n, heightAt, foot);
  if (byId("show-samples").checked) drawRug(context, frame, cut, foot);
  const [low, high] = [frame.axes[0].low, frame.axes[0].high];
  const place = (point) => {
    const i = Math.min(n - 1, Math.max(0, Math.floor(n * (point[0] - low) / (high - low))));
    return [frame.x(point[0]), heightAt(i)];
  };
  const marks = byId("show-points").checked
    ? [...saddleShapes(frame, place), ...modeShapes(frame, cut, place)] : [];
  overlay.replaceChildren(...frameShapes(frame), ...marks);
  overlay.setAttribute("aria-label",
    `Released density of ${axisName(frame.axes[0])}, tinted by ${cut.k} clusters`);
  byId("view-caption").textContent =
    `${view.samples.components.length.toLocaleString("en")} invented records, drawn from what was released, below the curve.`;
}

function densityCurve(cut, axis, n) {
  const total = new Array(n).fill(0), tint = total.map(() => [0, 0, 0]);
  for (let i = 0; i < nParts; i++) {
    const mean = parts.means[i][0], stddev = parts.stddevs[i][0], mix = rgb(cut.colourOf(i));
    for (let j = 0; j < n; j++) {
      const u = (axis.low + (j + 0.5) * (axis.high - axis.low) / n - mean) / stddev;
      const density = parts.weights[i] / stddev * Math.exp(-0.5 * u * u);
      total[j] += density;
      for (let c = 0; c < 3; c++) tint[j][c] += density * mix[c];
    }
  }
  const blended = tint.map((sums, j) => sums.map((sum) => (total[j] > 0 ? sum / total[j] : 0)));
  return {total, tint: blended, highest: Math.max(...total)};
}

function fillCurve(context, frame, curve, n, heightAt, foot) {
  const right = frame.left + frame.wide, tints = context.createLinearGradient(frame.left, 0, right, 0);
  curve.tint.forEach((mix, i) => tints.addColorStop((i + 0.5) / n, `rgb(${mix.map(Math.round).join(", ")})`));
  context.beginPath();
  for (let i = 0; i < n; i++) context.lineTo(frame.left + frame.wide * (i + 0.5) / n, heightAt(i));
  context.strokeStyle = paint("--ink");
  context.lineWidth = 1.3;
  context.stroke();
  context.lineTo(right, foot);
  context.lineTo(frame.left, foot);
  context.fillStyle = tints;
  context.globalAlpha = 0.5;
  context.fill();
  context.globalAlpha = 1;
}

function drawRug(context, frame, cut, foot) {
  context.globalAlpha = 0.5;
  view.samples.components.forEach((component, i) => {
    context.fillStyle = colour(cut.colourOf(component));
    context.fillRect(frame.left + frame.wide * view.samples.positions[0][i] / 1e4, foot + 6, 1, 16);
  });
  context.globalAlpha = 1;
}

// The density of two axes, or of one column, tinted by cluster; synthetic records; modes and saddles.

const view = data.view;
const onLine = data.axes.length === 1;
const LEVELS = [0.02, 0.06, 0.13, 0.25, 0.42, 0.62, 0.84]; // of the highest density
const FAR = 4.5; // standard deviations beyond which a component adds nothing that can be seen

const OF_TABLE = "Categories have no place on an axis: modes and saddles are those of directions in which " +
  "numbers and categories are combined, with the components' moments; in a column they stand where records " +
  "near them are on average.";

function viewFrame() {
  const width = Math.max(byId("view").clientWidth || 560, 280);
  const height = Math.round(Math.min(400, 0.72 * width + 40));
  const x = data.axes[view.axes[state.x]], y = data.axes[view.axes[state.y]];
  const ofDates = (data.columns[data.axes.indexOf(y)] || {}).kind === "date"; // they are long
  const frame = {width, height, left: ofDates ? 78 : 58, right: 8, top: 8, bottom: 42};
  frame.wide = frame.width - frame.left - frame.right;
  frame.tall = frame.height - frame.top - frame.bottom;
  frame.x = (value) => frame.left + frame.wide * (value - x.low) / (x.high - x.low);
  frame.y = (value) => frame.top + frame.tall * (1 - (value - y.low) / (y.high - y.low));
  frame.axes = [x, y];
  return frame;
}

function drawView(cut) {
  const frame = viewFrame(), context = preparedCanvas(frame);
  const overlay = byId("overlay");
  overlay.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  if (onLine) {
    drawLine(context, overlay, frame, cut);
    return;
  }
  const grid = densityGrid(cut, frame);
  drawImage(context, grid, frame);
  drawContours(context, grid, frame);
  if (byId("show-samples").checked) drawSamples(context, frame, cut);
  const points = byId("show-points").checked ? [...saddleShapes(frame), ...modeShapes(frame, cut)] : [];
  overlay.replaceChildren(...frameShapes(frame), ...points);
  overlay.setAttribute("aria-label", `Released density of ${axisName(frame.axes[0])} and ${axisName(frame.axes[1])} ` +
    `with synthetic records in the colours of ${cut.k} clusters`);
  byId("view-caption").textContent = viewCaption(frame);
}

function viewCaption(frame) {
  const about = [...new Set(frame.axes.map((axis) => axis.about).filter(Boolean))];
  const points = byId("show-points").checked, projected = !points ? [] : view.of_table ? [OF_TABLE]
    : nColumns < data.n_columns || data.n_columns > 2
      ? ["Modes and saddles are those of all columns together, seen from here."] : [];
  const fewer = view.axes.length < data.axes.length
    ? [`The ${view.axes.length - data.axes.length + nColumns} columns in which components differ most can be chosen.`] : [];
  return [`Dots: ${view.samples.components.length.toLocaleString("en")} invented records, drawn from what was ` +
    "released; nobody's own.", ...(points ? ["Numbers beside modes are those of groups."] : []), ...projected, ...about,
          ...fewer].join(" ");
}

function preparedCanvas(frame) {
  const canvas = byId("density"), ratio = Math.max(window.devicePixelRatio || 1, state.printing ? 3 : 1);
  canvas.width = Math.round(frame.width * ratio);
  canvas.height = Math.round(frame.height * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.beginPath();
  context.rect(frame.left, frame.top, frame.wide, frame.tall);
  context.clip();
  return context;
}

// -- density ---------------------------------------------------------------------------------------

// Correlations are stored for the pairs (0, 1), (0, 2), (1, 2), (0, 3) ... of viewable axes.
function correlation(component, a, b) {
  if (a === b) return 0.999;
  const [low, high] = a < b ? [a, b] : [b, a];
  return view.correlations[high * (high - 1) / 2 + low][component] / 1000;
}

function densityGrid(cut, frame) {
  const nx = 120, ny = Math.round(120 * frame.tall / frame.wide);
  const grid = {nx, ny, total: new Float64Array(nx * ny), tint: new Float64Array(3 * nx * ny)};
  for (let i = 0; i < nParts; i++) {
    if (parts.weights[i] > 0) addComponent(grid, i, rgb(cut.colourOf(i)), frame.axes);
  }
  grid.highest = grid.total.reduce((a, b) => Math.max(a, b), 0);
  return grid;
}

function addComponent(grid, i, tint, [x, y]) {
  const [ax, ay] = [view.axes[state.x], view.axes[state.y]];
  const sx = parts.stddevs[i][ax], sy = parts.stddevs[i][ay], r = correlation(i, state.x, state.y);
  const slope = Math.sqrt(1 - r * r), factor = parts.weights[i] / (sx * sy * slope);
  const stepX = (x.high - x.low) / grid.nx / sx, startX = (x.low - parts.means[i][ax]) / sx + stepX / 2;
  const stepY = (y.high - y.low) / grid.ny / sy, startY = (y.low - parts.means[i][ay]) / sy + stepY / 2;
  for (let row = 0; row < grid.ny; row++) {
    const v = startY + row * stepY;
    if (Math.abs(v) > FAR) continue;
    const from = Math.max(0, Math.ceil((-FAR - startX) / stepX));
    const to = Math.min(grid.nx - 1, Math.floor((FAR - startX) / stepX));
    for (let column = from; column <= to; column++) {
      const u = (startX + column * stepX - r * v) / slope;
      const density = factor * Math.exp(-0.5 * (u * u + v * v));
      const at = row * grid.nx + column;
      grid.total[at] += density;
      for (let c = 0; c < 3; c++) grid.tint[3 * at + c] += density * tint[c];
    }
  }
}

// Rows of the grid go up, those of an image down.
function drawImage(context, grid, frame) {
  const image = new ImageData(grid.nx, grid.ny);
  for (let row = 0; row < grid.ny; row++) {
    for (let column = 0; column < grid.nx; column++) {
      const at = row * grid.nx + column, to = 4 * ((grid.ny - 1 - row) * grid.nx + column);
      const density = grid.total[at];
      for (let c = 0; c < 3; c++) image.data[to + c] = density > 0 ? grid.tint[3 * at + c] / density : 0;
      image.data[to + 3] = 150 * (density / grid.highest) ** 0.5;
    }
  }
  const small = document.createElement("canvas");
  small.width = grid.nx;
  small.height = grid.ny;
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingQuality = "high";
  context.drawImage(small, frame.left, frame.top, frame.wide, frame.tall);
}

function drawContours(context, grid, frame) {
  context.strokeStyle = paint("--ink");
  context.lineWidth = 0.7;
  context.globalAlpha = 0.38;
  context.beginPath();
  for (const level of LEVELS) {
    for (let row = 0; row + 1 < grid.ny; row++) {
      for (let column = 0; column + 1 < grid.nx; column++) {
        traceSquare(context, grid, frame, row, column, level);
      }
    }
  }
  context.stroke();
  context.globalAlpha = 1;
}

// Marching squares: join the points at which the level is crossed on the sides of one square.
function traceSquare(context, grid, frame, row, column, level) {
  const height = level * grid.highest, at = row * grid.nx + column;
  const corners = [at, at + 1, at + grid.nx + 1, at + grid.nx].map((corner) => grid.total[corner]);
  const places = [[0, 0], [1, 0], [1, 1], [0, 1]], crossings = [];
  for (let side = 0; side < 4; side++) {
    const a = corners[side], b = corners[(side + 1) % 4];
    if (a < height === b < height) continue;
    const part = (height - a) / (b - a), from = places[side], to = places[(side + 1) % 4];
    crossings.push([from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])]);
  }
  for (let i = 0; i + 1 < crossings.length; i += 2) {
    context.moveTo(...gridPoint(grid, frame, column + crossings[i][0], row + crossings[i][1]));
    context.lineTo(...gridPoint(grid, frame, column + crossings[i + 1][0], row + crossings[i + 1][1]));
  }
}

const gridPoint = (grid, frame, column, row) => [
  frame.left + frame.wide * (column + 0.5) / grid.nx,
  frame.top + frame.tall * (1 - (row + 0.5) / grid.ny),
];

function drawSamples(context, frame, cut) {
  const xs = view.samples.positions[state.x], ys = view.samples.positions[state.y];
  const radius = view.samples.components.length > 3000 ? 1.2 : 1.7;
  context.globalAlpha = 0.8;
  view.samples.components.forEach((component, i) => {
    context.fillStyle = colour(cut.colourOf(component));
    context.beginPath();
    const x = frame.left + frame.wide * xs[i] / 1e4, y = frame.top + frame.tall * (1 - ys[i] / 1e4);
    context.arc(x, y, radius, 0, 7);
    context.fill();
  });
  context.globalAlpha = 1;
}

// Save what is shown: the table as CSV, pictures as SVG or PNG. Nothing leaves the machine.

function prepareExports() {
  byId("table-csv").addEventListener("click", () =>
    save("clusters.csv", new Blob(["\ufeff" + tableText()], {type: "text/csv;charset=utf-8"})));
  const pictures = {tree: () => [byId("dendrogram")], profiles: () => [byId("profile")],
                    density: () => [byId("overlay")], levels: () => [...byId("levels").querySelectorAll("svg")]};
  for (const [name, svgs] of Object.entries(pictures)) {
    byId(`${name}-svg`).addEventListener("click", () =>
      save(`${name}.svg`, new Blob([drawn(svgs()).text], {type: "image/svg+xml"})));
    byId(`${name}-png`).addEventListener("click", () => savePixels(`${name}.png`, drawn(svgs())));
  }
}

function save(name, blob) {
  const link = make("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// -- table -----------------------------------------------------------------------------------------

// Text that a spreadsheet would run as a formula gets a quote in front.
const quoted = (value) => {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const ENDS = ["", "_low", "_high"];

// One row for each cluster and column, or level, as in model.summary().
function tableText() {
  const names = ["share", "q1", "median", "q3", "level_share", "missing"];
  const head = ["cluster", "column", "level", ...names.flatMap((name) => ENDS.map((end) => name + end))];
  const rows = clustersAt(state.k).clusters.flatMap(({number, row}) => entries.flatMap((entry) =>
    (isNumber(entry) ? [""] : entry.levels).map((name, level) =>
      [number, entry.key, name, ...numbersOf(row, entry, level).flat()])));
  return [head, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

const EMPTY = ENDS.map(() => "");
const parted = (share) => (share === null ? EMPTY : share.slice(0, 3).map((part) => (part === null ? "" : part / 1e4)));

// Values and both ends of share, quartiles, level and missing values; empty where something is not known.
function numbersOf(row, entry, level) {
  const inTerms = (value) => valueText(entry, value, (number) => number);
  const written = (number) => (number === null ? EMPTY
    : number.slice(0, 3).map((end) => (end === null ? "" : inTerms(end))));
  return [row.share.slice(0, 3),
    ...(isNumber(entry) ? row.numbers[entry.number].map(written) : [EMPTY, EMPTY, EMPTY]),
    isNumber(entry) ? EMPTY : parted(row.levels[entry.category][level]),
    mayMiss(entry) ? parted(row.missing[entry.place]) : EMPTY];
}

// -- pictures --------------------------------------------------------------------------------------

const PAINTED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity",
                 "font-size", "font-weight", "font-family", "text-anchor", "paint-order"];
const COLUMNS_OF_PANELS = 3;

// A drawing that needs no style sheet: what the page's style gives each shape becomes its attribute.
function painted(svg) {
  const copy = svg.cloneNode(true), from = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, i) => {
    const style = getComputedStyle(from[i]);
    for (const name of PAINTED) node.setAttribute(name, style.getPropertyValue(name));
    node.removeAttribute("class");
  });
  return copy;
}

function sizeOf(svg) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  return {width, height};
}

// One or several drawings on the paper of the page, side by side, with their names.
function drawn(svgs) {
  const several = svgs.length > 1, gap = several ? 26 : 0;
  const wide = Math.max(...svgs.map((svg) => sizeOf(svg).width));
  const outer = shape("svg"), paper = shape("rect", {width: "100%", height: "100%", fill: paint("--card")});
  outer.append(paper);
  let y = 0, tallest = 0;
  svgs.forEach((svg, i) => {
    const {width, height} = sizeOf(svg), place = i % COLUMNS_OF_PANELS, x = place * (wide + gap);
    if (place === 0) { y += tallest; tallest = 0; }
    tallest = Math.max(tallest, height + gap);
    const inner = fill(painted(svg), {x, y: y + gap, width, height}, []);
    outer.append(...titleOf(svg, x, y + gap - 8), ...canvasBelow(svg, width, height), inner);
  });
  const size = {width: Math.min(svgs.length, COLUMNS_OF_PANELS) * (wide + gap) - gap, height: y + tallest};
  fill(outer, {viewBox: `0 0 ${size.width} ${size.height}`, ...size}, []);
  return {...size, text: new XMLSerializer().serializeToString(outer)};
}

const titleOf = (svg, x, y) => {
  const caption = svg.parentElement.querySelector("figcaption");
  return caption === null ? [] : [shape("text", {x: x + 8, y, "font-size": 14, "font-weight": 600,
    "font-family": "sans-serif", fill: paint("--ink")}, caption.textContent)];
};

// The density itself is painted below its axes.
const canvasBelow = (svg, width, height) => (svg.id === "overlay"
  ? [shape("image", {href: byId("density").toDataURL(), width, height})] : []);

function savePixels(name, {text, width, height}) {
  const image = new Image(), canvas = make("canvas", {width: 2 * width, height: 2 * height});
  image.addEventListener("load", () => {
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
    canvas.toBlob((blob) => save(name, blob));
  });
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}

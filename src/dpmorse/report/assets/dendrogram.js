// The merge tree: brackets in the colours of the clusters, the cut as a dotted line. Heights are numbers of
// clusters, whatever rule has merged: a merge stands between the numbers before and after it.

const tree = data.tree;
const nLeaves = tree.order.length;
const heights = tree.merges.map((merge) => merge[2]);
const highest = Math.max(...heights, 0) || 1;
const LABELLED = 8; // merges, from the top, that say how well their sides are apart

const brackets = layOut();

// Place and colour-giving leaf of every group, as SciPy numbers them: leaves first, then merges.
function layOut() {
  const place = new Array(nLeaves), leaf = new Array(nLeaves), level = new Array(nLeaves).fill(nLeaves + 0.5);
  tree.order.forEach((i, at) => { place[i] = at; leaf[i] = i; });
  return tree.merges.map(([a, b, height, certified, apart], row) => {
    place[nLeaves + row] = (place[a] + place[b]) / 2;
    leaf[nLeaves + row] = leaf[a];
    level[nLeaves + row] = nLeaves - row - 0.5;
    return {left: place[a], right: place[b], lowLeft: level[a], lowRight: level[b], height, certified, apart,
            level: nLeaves - row - 0.5, leaf: leaf[a]};
  });
}

// Numbers of clusters on a logarithmic scale: few clusters get more room than many.
function dendrogramFrame() {
  const width = Math.max(byId("dendrogram").clientWidth || 560, 280);
  const frame = {width, height: 452, left: 46, right: 10, top: 18, bottom: 44};
  frame.floor = frame.height - frame.bottom;
  const inner = width - frame.left - frame.right, tall = frame.floor - frame.top;
  const scale = Math.log(nLeaves + 0.5);
  frame.x = (place) => frame.left + inner * (place + 0.5) / nLeaves;
  frame.y = (number) => frame.top + tall * Math.log(number) / scale;
  frame.numberAt = (y) => Math.exp((y - frame.top) / tall * scale);
  frame.gap = inner / nLeaves;
  return frame;
}

function drawDendrogram(cut) {
  const svg = byId("dendrogram"), frame = dendrogramFrame();
  svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  svg.setAttribute("aria-label",
    `Dendrogram of ${nLeaves} leaves, cut into ${cut.k} cluster${cut.k > 1 ? "s" : ""}`);
  if (nLeaves === 1) {
    svg.replaceChildren(...leafShapes(frame, cut), onlyLeaf(frame));
    return;
  }
  svg.replaceChildren(...numberAxis(frame), ...bracketShapes(frame, cut), ...leafShapes(frame, cut),
    cutLine(frame, cut.k), ...apartLabels(frame));
}

const onlyLeaf = (frame) => shape("text", {x: frame.x(0), y: frame.height / 2, "text-anchor": "middle"},
  "One component: there is nothing to merge.");

const ROUND = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500];

function numberAxis(frame) {
  const shown = [];
  for (const number of ROUND.filter((value) => value <= nLeaves)) {
    if (!shown.length || frame.y(number) - frame.y(shown[shown.length - 1]) >= 15) shown.push(number);
  }
  const shapes = shown.flatMap((number) => [
    shape("line", {class: "axis", x1: frame.left, x2: frame.width - frame.right, y1: frame.y(number),
                   y2: frame.y(number)}),
    shape("text", {x: frame.left - 6, y: frame.y(number) + 4, "text-anchor": "end"}, String(number)),
  ]);
  const turned = {transform: `translate(12 ${(frame.top + frame.floor) / 2}) rotate(-90)`, "text-anchor": "middle"};
  return [...shapes, shape("text", turned, "number of clusters")];
}

function apartLabels(frame) {
  const few = brackets.slice(-LABELLED).filter((bracket) => bracket.apart !== null);
  return few.map((bracket) => shape("text", {class: "halo apart", x: frame.x((bracket.left + bracket.right) / 2) + 5,
    y: frame.y(bracket.level) - 4}, `${fixed(100 * bracket.apart, 0)} %`));
}

function bracketShapes(frame, cut) {
  return brackets.map((bracket, row) => {
    const inside = row < nLeaves - cut.k;
    const path = `M${frame.x(bracket.left)} ${frame.y(bracket.lowLeft)}V${frame.y(bracket.level)}` +
      `H${frame.x(bracket.right)}V${frame.y(bracket.lowRight)}`;
    const line = shape("path", {
      d: path, fill: "none", class: inside ? "inside" : "above", "stroke-width": inside ? 2.2 : 1.3,
      stroke: inside ? colour(cut.colourOf(tree.leaves[bracket.leaf])) : null,
      "stroke-dasharray": bracket.certified ? null : "5 4",
    });
    const title = `merge at ${show(bracket.height, highest)}, ${tree.heights}` +
      (bracket.apart === null ? "" : `; sides apart by ${fixed(100 * bracket.apart, 1)} %`) +
      (bracket.certified ? "" : "; not certified");
    line.append(shape("title", {}, title));
    return line;
  });
}

function leafShapes(frame, cut) {
  const radius = Math.min(4.5, Math.max(1.2, frame.gap / 2.4));
  const named = frame.gap >= 8 * Math.max(...tree.names.map((name) => name.length)) + 3;
  const shapes = tree.order.flatMap((leaf, at) => {
    const x = frame.x(at), fillColour = colour(cut.colourOf(tree.leaves[leaf]));
    const dot = shape("circle", {class: "leaf", cx: x, cy: frame.floor, r: radius, fill: fillColour});
    dot.append(shape("title", {}, `${tree.names[leaf]}: cluster ${cut.labels[tree.leaves[leaf]]}`));
    return named
      ? [dot, shape("text", {x, y: frame.floor + 18, "text-anchor": "middle"}, tree.names[leaf])]
      : [dot];
  });
  const middle = (frame.left + frame.width - frame.right) / 2;
  return [...shapes, shape("text", {x: middle, y: frame.height - 6, "text-anchor": "middle"}, "component")];
}

const cutLine = (frame, k) => shape("line",
  {class: "cut", x1: frame.left, x2: frame.width - frame.right, y1: frame.y(k), y2: frame.y(k)});

// The number of clusters if the tree is cut where the pointer is.
function clustersAtPointer(event) {
  const box = byId("dendrogram").getBoundingClientRect(), frame = dendrogramFrame();
  const number = frame.numberAt((event.clientY - box.top) * frame.height / box.height);
  return Math.min(Math.max(Math.round(number), 1), data.cuts.length);
}

// The merge tree: brackets in the colours of the clusters, the cut as a dotted line.

const tree = data.tree;
const nLeaves = tree.order.length;
const heights = tree.merges.map((merge) => merge[2]);
const highest = Math.max(...heights, 0) || 1;
const positive = heights.filter((height) => height > 0).sort((a, b) => a - b);
const byRoot = positive.length > 3 && positive[positive.length >> 1] < 0.08 * highest;
const bend = byRoot ? Math.sqrt : (height) => height;
const STEM = 16; // below height 0, so that merges without a barrier are seen

const brackets = layOut();

// Place and colour-giving leaf of every group, as SciPy numbers them: leaves first, then merges.
function layOut() {
  const place = new Array(nLeaves), leaf = new Array(nLeaves), level = new Array(nLeaves).fill(-1);
  tree.order.forEach((i, at) => { place[i] = at; leaf[i] = i; });
  return tree.merges.map(([a, b, height, certified], row) => {
    place[nLeaves + row] = (place[a] + place[b]) / 2;
    leaf[nLeaves + row] = leaf[a];
    level[nLeaves + row] = height;
    return {left: place[a], right: place[b], lowLeft: level[a], lowRight: level[b], height, certified,
            leaf: leaf[a]};
  });
}

function dendrogramFrame() {
  const width = Math.max(byId("dendrogram").clientWidth || 560, 280);
  const frame = {width, height: 452, left: 52, right: 10, top: 10, bottom: 44};
  const floor = frame.height - frame.bottom;
  const inner = width - frame.left - frame.right;
  const tall = floor - STEM - frame.top;
  frame.x = (place) => frame.left + inner * (place + 0.5) / nLeaves;
  frame.y = (height) => (height < 0 ? floor : floor - STEM - tall * bend(height) / bend(1.08 * highest));
  frame.heightAt = (y) => {
    const part = Math.min(Math.max((floor - STEM - y) / tall, -1), 1);
    return part < 0 ? -1 : (byRoot ? part ** 2 : part) * 1.08 * highest;
  };
  frame.floor = floor;
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
  svg.replaceChildren(...heightAxis(frame), ...bracketShapes(frame, cut), ...leafShapes(frame, cut),
    cutLine(frame, cut.k));
}

const onlyLeaf = (frame) => shape("text", {x: frame.x(0), y: frame.height / 2, "text-anchor": "middle"},
  "One component: there is nothing to merge.");

function heightAxis(frame) {
  const marks = ticks(0, 1.05 * highest, byRoot ? 8 : 5);
  const shapes = marks.values.filter((value) => !byRoot || spaced(value, marks.values)).flatMap((value) => [
    shape("line", {class: "axis", x1: frame.left, x2: frame.width - frame.right, y1: frame.y(value),
                   y2: frame.y(value)}),
    shape("text", {x: frame.left - 6, y: frame.y(value) + 4, "text-anchor": "end"}, marks.text(value)),
  ]);
  const middle = (frame.top + frame.floor) / 2;
  const title = tree.heights + (byRoot ? ", square-root scale" : "");
  const turned = {transform: `translate(12 ${middle}) rotate(-90)`, "text-anchor": "middle"};
  return [...shapes, shape("text", turned, title)];
}

// Under a square root the highest ticks crowd: every second one is enough there.
const spaced = (value, all) => value <= all[all.length - 1] / 3 || all.indexOf(value) % 2 === 0;

function bracketShapes(frame, cut) {
  return brackets.map((bracket, row) => {
    const inside = row < nLeaves - cut.k;
    const path = `M${frame.x(bracket.left)} ${frame.y(bracket.lowLeft)}V${frame.y(bracket.height)}` +
      `H${frame.x(bracket.right)}V${frame.y(bracket.lowRight)}`;
    const line = shape("path", {
      d: path, fill: "none", class: inside ? "inside" : "above", "stroke-width": inside ? 2.2 : 1.3,
      stroke: inside ? colour(cut.colourOf(tree.leaves[bracket.leaf])) : null,
      "stroke-dasharray": bracket.certified ? null : "5 4",
    });
    const title = `merge at ${show(bracket.height, highest)}` + (bracket.certified ? "" : ", not certified");
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

function cutLine(frame, k) {
  const nMerges = nLeaves - k;
  const below = nMerges > 0 ? heights[nMerges - 1] : -1;
  const above = nMerges < heights.length ? heights[nMerges] : 1.08 * highest;
  const y = above > 0 ? (frame.y(below) + frame.y(above)) / 2 : frame.floor - STEM / 2; // among the stems
  return shape("line", {class: "cut", x1: frame.left, x2: frame.width - frame.right, y1: y, y2: y});
}

// The number of clusters if the tree is cut where the pointer is.
function clustersAtPointer(event) {
  const box = byId("dendrogram").getBoundingClientRect(), frame = dendrogramFrame();
  const height = frame.heightAt((event.clientY - box.top) * frame.height / box.height);
  const nMerges = heights.filter((value) => value <= height).length;
  return Math.min(Math.max(nLeaves - nMerges, 1), data.cuts.length);
}

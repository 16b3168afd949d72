// Categories: for each level, and for missing values, a bar of every cluster, with its interval and the share
// among all records. Clusters of which noise hides the levels have none.

const mostPanels = () => (isNarrow() ? 3 : 6); // pictures of columns at first; a button shows the others
const NAME = 17; // height of the name of a value, which stands above its bars
const MOST_LEVELS = 8; // levels of a column at first

const levelState = {everything: false};

function prepareLevels() {
  byId("levels-card").hidden = !data.categories.length;
  byId("all-levels").addEventListener("click", () => {
    levelState.everything = !levelState.everything;
    askRedraw();
  });
}

function drawLevels(cut) {
  const categories = entries.filter((entry) => !isNumber(entry));
  const ranked = byStrength(categories, cut);
  const shown = levelState.everything ? ranked : ranked.slice(0, mostPanels());
  const longer = categories.length > mostPanels() ||
    categories.some((entry) => entry.levels.length > MOST_LEVELS);
  const button = byId("all-levels");
  button.hidden = !longer;
  button.textContent = levelState.everything ? "Show fewer" : "Show all columns and values";
  button.setAttribute("aria-expanded", String(levelState.everything));
  byId("levels").replaceChildren(...shown.map((entry) => make("figure", {class: "panel"},
    make("figcaption", {title: entry.name}, entry.name), panel(entry, cut))));
  const hidden = cut.clusters.filter((cluster) => !hasLevels(cluster)).map(({number}) => number);
  byId("levels-caption").textContent = levelsCaption(shown.length, categories.length, hidden);
}

// Columns whose levels differ most between clusters come first.
function byStrength(categories, cut) {
  const strength = new Map(categories.map((entry) => [entry, Math.max(0, ...clearTraits(cut)
    .filter((trait) => trait.place === entry.place).map((trait) => Math.abs(trait.difference)))]));
  return [...categories].sort((a, b) => strength.get(b) - strength.get(a) || a.place - b.place);
}

const hasLevels = ({row}) => row.levels[0][0] !== null; // of all categories or of none

function panel(entry, cut) {
  const clusters = cut.clusters.filter(hasLevels), overallShares = partsOf(whole, entry);
  const order = mostFrequent(overallShares, levelState.everything ? Infinity : MOST_LEVELS);
  const thick = Math.max(3, Math.min(9, 60 / clusters.length)), row = NAME + clusters.length * (thick + 2) + 8;
  const frame = {width: 372, left: 18, right: 52, top: 2, thick, row};
  frame.height = frame.top + order.length * row + 20;
  frame.x = (share) => frame.left + (frame.width - frame.left - frame.right) * share;
  const svg = shape("svg", {viewBox: `0 0 ${frame.width} ${frame.height}`, role: "img",
    "aria-label": panelWords(entry, clusters, order)});
  svg.append(...shareAxis(frame), ...order.flatMap((level, i) =>
    levelShapes(frame, entry, level, frame.top + i * row, clusters, overallShares[level][0] / 1e4)));
  return svg;
}

const shareAxis = (frame) => [0, 0.5, 1].flatMap((share) => [
  shape("line", {class: "axis", x1: frame.x(share), x2: frame.x(share), y1: frame.top,
                 y2: frame.height - 16}),
  shape("text", {x: frame.x(share), y: frame.height - 4, "text-anchor": "middle"}, `${100 * share} %`),
]);

function levelShapes(frame, entry, level, top, clusters, overallShare) {
  const name = shape("text", {x: frame.left, y: top + 13, class: "strong"},
    fitted(partNames(entry)[level], frame.width - frame.left - 4, 600));
  name.append(shape("title", {}, partNames(entry)[level]));
  const bottom = top + frame.row - 6;
  return [name, ...clusters.flatMap((cluster, i) =>
    levelBar(frame, entry, level, top + NAME + 2 + i * (frame.thick + 2), cluster, overallShare)),
    shape("line", {class: "overall", x1: frame.x(overallShare), x2: frame.x(overallShare),
                   y1: top + NAME, y2: bottom + 2})];
}

// A bar; pale where it does not stand out from the other records.
function levelBar(frame, entry, level, y, cluster, overallShare) {
  const [share, low, high] = partsOf(cluster.row, entry)[level].map((part) => (part === null ? null : part / 1e4));
  const clear = !measured || cluster.row.clear[entry.category].includes(level), ink = colour(cluster.colour);
  const rect = shape("rect", {class: "level-bar", x: frame.x(0), y, width: frame.x(share) - frame.x(0),
    height: frame.thick, fill: ink, "fill-opacity": clear ? 1 : 0.35});
  const lift = overallShare > 0 ? share / overallShare : 1;
  rect.append(shape("title", {}, `group ${cluster.number}: ${showShare(share)}, ` +
    `${fixed(lift, 1)} times the share of all records`));
  const middle = y + frame.thick / 2;
  const whisker = low === null ? [] : [shape("line", {class: "whisker", x1: frame.x(low), x2: frame.x(high),
    y1: middle, y2: middle, stroke: paint("--ink"), "stroke-width": 1})];
  const label = clear && measured && frame.thick >= 6 ? [shape("text", {class: "lift",
    x: frame.width - frame.right + 6, y: middle + 3.5}, `\u00d7 ${fixed(lift, lift < 10 ? 1 : 0)}`)] : [];
  return [rect, ...whisker, ...label];
}

const panelWords = (entry, clusters, order) => `Shares of ${entry.name}. ` + clusters.map((cluster) =>
  `Group ${cluster.number}: ` + order.slice(0, SHOWN_LEVELS).map((level) =>
    `${partNames(entry)[level]} ${showShare(partsOf(cluster.row, entry)[level][0] / 1e4)}`).join(", "))
  .join("; ") + ".";

function levelsCaption(nShown, nAll, hidden) {
  const words = ["For every value of a category, the share of each group's records that have it. The upright " +
    "mark is the share among all records; \u00d7 says how many times as frequent the value is in the group " +
    "(its lift)."];
  if (measured) words.push("Thin lines are intervals. Pale bars do not stand out from the other records.");
  if (hidden.length) words.push(`The levels of group ${hidden.join(", ")} are ${NOT_KNOWN}: noise hides them.`);
  if (nShown < nAll) words.push(`Shown are the ${nShown} of ${nAll} columns in which groups differ most.`);
  return words.join(" ");
}

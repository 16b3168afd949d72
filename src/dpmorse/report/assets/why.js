// Why a number of clusters is suggested: what would be gained and lost with others.

const MOST_ROWS = 10; // numbers of clusters that are compared

function drawWhy() {
  byId("why").textContent = `${tree.suggestion}. ${tree.why}`;
  const most = Math.min(data.cuts.length, Math.max(MOST_ROWS, state.k)), counts = measured;
  const head = ["Clusters", "Least clear cluster", "Next to merge are apart by",
                ...(counts ? ["May be noise"] : []), "Standing"];
  byId("why-table").replaceChildren(
    make("thead", {}, make("tr", {}, ...head.map((text) =>
      heading(text, text === "Standing" ? {class: "words"} : {})))),
    make("tbody", {}, ...Array.from({length: most}, (_, i) => whyRow(i + 1, counts))));
}

function whyRow(k, counts) {
  const {clusters} = clustersAt(k);
  const clear = clusters.map((cluster) => (cluster.separation === null ? 1 : cluster.separation[0]));
  const least = clear.indexOf(Math.min(...clear)), next = k > 1 ? brackets[nLeaves - k].apart : null;
  const words = clusters[least].separation === null ? "" : data.words.apart[clusters[least].separation[1]].name;
  const row = make("tr", {class: k === state.k ? "chosen" : null}, make("th", {scope: "row"}, String(k)),
    cell(k > 1 ? `${fixed(100 * clear[least], 0)} % (${words})` : NONE),
    cell(next === null ? NONE : `${fixed(100 * next, 0)} %`),
    ...(counts ? [cell(String(clusters.filter(mayBeNoise).length))] : []), cell(standing(k), "words"));
  return row;
}

function standing(k) {
  const words = [];
  if (k === tree.suggested) words.push("suggested");
  else if (tree.nearly.includes(k)) words.push("nearly as good");
  if (k === state.k) words.push("shown");
  return words.join(", ");
}

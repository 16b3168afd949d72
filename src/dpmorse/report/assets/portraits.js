// The clusters in words: a sentence, how good the cluster is, and the columns that make it, ranked.

const clearTraits = (cut) => cut.clusters.flatMap((cluster) => traitsOf(cluster));

const traitsOf = (cluster) => cluster.row.traits.map(([place, difference, words]) => ({place, difference, words}));

// Dates are not broken at their hyphens.
const unbroken = (text) => text.replace(/(?<=\d)-(?=\d)/g, "\u2060-\u2060");

function drawPortraits(cut) {
  byId("portraits").replaceChildren(...cut.clusters.map(portrait));
  const again = data.again[state.k - 1].length ? ` ${data.about_again}` : "";
  byId("portraits-caption").textContent = (measured
    ? "Bars: how far the median of the cluster lies from that of all other records, in robust standard deviations " +
      "of all records (values of a category count as zeros and ones). Only differences that noise does not " +
      "explain are listed: they are three standard deviations of their noise or more, the more columns there " +
      "are."
    : data.numbers.about) + again;
}

// How often a cluster of this cut was found again; nothing where that is not known.
const foundAgain = (cluster) => (data.again[state.k - 1][cluster.number] || "");

function portrait(cluster) {
  const title = make("h3", {}, swatch(cluster.colour), `Cluster ${cluster.number}`);
  return make("article", {class: "portrait"}, title, make("p", {class: "said"}, unbroken(cluster.row.said)),
    make("ul", {class: "quality", "aria-label": `Quality of cluster ${cluster.number}`},
      ...qualityOf(cluster)), ...ranking(cluster));
}

// A cluster that may be noise is said to be no more than that.
function qualityOf(cluster) {
  const items = [];
  if (cluster.separation !== null && !mayBeNoise(cluster)) {
    const [part, place] = cluster.separation;
    items.push(qualityItem(data.words.apart[place], `mean membership ${fixed(100 * part, 0)}\u00a0%`));
  }
  if (measured) {
    const [over, place] = cluster.row.size;
    items.push(qualityItem(data.words.larger[place],
      `${over >= 10 ? fixed(over, 0) : fixed(over, 1)}\u00a0\u00d7\u00a0its\u00a0noise`));
  }
  const again = foundAgain(cluster);
  if (again) items.push(make("li", {class: "again"}, make("strong", {}, again)));
  return items;
}

const qualityItem = ({name, promise, grade}, number) =>
  make("li", {class: grade}, make("strong", {}, name), ` \u2013 ${promise} (${number})`);

function ranking(cluster) {
  const traits = traitsOf(cluster);
  if (!traits.length) return [];
  const most = Math.max(1, ...traits.map((trait) => Math.abs(trait.difference)));
  const shown = traits.slice(0, state.printing ? 5 : 6);
  const more = cluster.row.n_traits - shown.length;
  return [
    make("ol", {class: "ranking", "aria-label": `Columns that make cluster ${cluster.number}`},
      ...shown.map((trait) => rankedColumn(trait, most, cluster))),
    ...(more > 0 ? [make("p", {class: "caption"}, `and ${more} more column${more > 1 ? "s" : ""} that stand${
      more > 1 ? "" : "s"} out less`)] : []),
  ];
}

function rankedColumn(trait, most, cluster) {
  const inner = make("span", {class: trait.difference < 0 ? "below" : "above"});
  inner.style.width = `${50 * Math.abs(trait.difference) / most}%`;
  inner.style.backgroundColor = colour(cluster.colour);
  const sign = trait.difference > 0 ? "+" : "";
  return make("li", {}, make("span", {class: "ranked-name", title: entries[trait.place].name},
    entries[trait.place].name),
  make("span", {class: "diverging", "aria-hidden": "true"}, inner),
  make("span", {class: "ranked-value"}, sign + fixed(trait.difference, 1)),
  make("span", {class: "ranked-words"}, unbroken(trait.words)));
}

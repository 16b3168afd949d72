// The clusters in words: a sentence, how good the cluster is, and the columns that make it, ranked.

const clearTraits = (cut) => cut.clusters.flatMap((cluster) => traitsOf(cluster));

const traitsOf = (cluster) =>
  cluster.row.traits.map(([place, difference, words, give]) => ({place, difference, words, give}));

// Dates are not broken at their hyphens.
const unbroken = (text) => text.replace(/(?<=\d)-(?=\d)/g, "\u2060-\u2060");

const MOST_PORTRAITS = 8; // groups at first; a button shows the others

function drawSentences(cut) {
  const shown = cut.clusters.slice(0, MOST_PORTRAITS), more = cut.k - shown.length;
  byId("headline").textContent = data.headlines[cut.k - 1];
  byId("sentences").replaceChildren(...shown.map((cluster) => make("li", {}, swatch(cluster.colour),
    make("strong", {}, `Group ${cluster.number}`), `, ${unbroken(cluster.row.said)}`)),
    ...(more > 0 ? [make("li", {}, `and ${more} more`)] : []));
}

function drawPortraits(cut) {
  const shown = foldedList("all-portraits", cut.clusters, MOST_PORTRAITS, "groups");
  const reach = Math.max(1e-9, ...clearTraits(cut).map(({difference, give}) => Math.abs(difference) + give));
  byId("portraits").replaceChildren(...shown.map((cluster) => portrait(cluster, reach)));
  const again = data.again[state.k - 1].length ? ` ${data.about_again}` : "";
  byId("portraits-caption").textContent = (measured
    ? "Dots: how far the middle value of the group lies from that of all other records, on one scale for all " +
      "groups and columns; lines are intervals. Only differences that noise does not explain are listed."
    : data.numbers.about) + again;
}

// How often a cluster of this cut was found again; nothing where that is not known.
const foundAgain = (cluster) => (data.again[state.k - 1][cluster.number] || "");

function portrait(cluster, reach) {
  const title = make("h3", {}, swatch(cluster.colour), `Group ${cluster.number}, ${clusterSize(cluster)}`);
  return make("article", {class: "portrait"}, title,
    make("ul", {class: "quality", "aria-label": `Quality of group ${cluster.number}`},
      ...qualityOf(cluster)), ...ranking(cluster, reach));
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

function ranking(cluster, reach) {
  const traits = traitsOf(cluster);
  if (!traits.length) return [];
  const shown = traits.slice(0, isNarrow() ? 4 : 6), more = cluster.row.n_traits - shown.length;
  return [
    make("ol", {class: "ranking", "aria-label": `Columns that make group ${cluster.number}`},
      ...shown.map((trait) => rankedColumn(trait, reach, cluster))),
    ...(more > 0 ? [make("p", {class: "caption"}, `and ${more} more column${more > 1 ? "s" : ""} that stand${
      more > 1 ? "" : "s"} out less`)] : []),
  ];
}

function rankedColumn({place, difference, words, give}, reach, cluster) {
  const at = (value) => `${50 + 48 * Math.max(-1, Math.min(1, value / reach))}%`;
  const dot = make("span", {class: "ranked-dot"}), line = make("span", {class: "ranked-line"});
  dot.style.left = at(difference);
  line.style.left = at(difference - give);
  line.style.right = `calc(100% - ${at(difference + give)})`;
  dot.style.backgroundColor = line.style.backgroundColor = colour(cluster.colour);
  const {name, called} = entries[place];
  return make("li", {}, make("span", {class: "ranked-name", title: name}, called),
    make("span", {class: "diverging", "aria-hidden": "true"}, line, dot),
    make("span", {class: "ranked-words"}, unbroken(words)));
}

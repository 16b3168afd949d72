// Tables of modes and saddles, with their certificates.

const certificate = (certified, doubt = []) =>
  make("td", {class: certified ? "fine" : "flag"}, certified ? "certified" : "flagged", ...doubt);

// A certified mode of a cluster that may be noise: the word is about the density, which has noise in it.
const doubtOf = (cluster) => (mayBeNoise(cluster)
  ? [make("span", {class: "flag"}, ", cluster may be noise", ...marks(cluster, "size"))] : []);

const coordinates = (point) => groupEntries().filter(isNumber).map((entry) =>
  make("td", {}, valueText(entry, point[entry.number], (value) => show(value, entry.scale))));

const pointHead = (...texts) => make("thead", {}, make("tr", {}, ...texts.map((text) => heading(text)),
  heading("Certificate", {class: "words"}),
  ...groupEntries().filter(isNumber).map((entry) => nameHeading(entry, 1))));

function drawPointTables(cut) {
  const scale = 1; // nats
  byId("mode-table").replaceChildren(pointHead("Mode", "Cluster", "f", "Persistence"),
    make("tbody", {}, ...data.modes.map((mode, i) => make("tr", {}, make("th", {scope: "row"}, String(i)),
      make("td", {}, swatch(cut.colourOf(mode.leaf)), String(cut.labels[mode.leaf])),
      make("td", {}, show(mode.height, scale)),
      make("td", {}, mode.persistence === null ? "\u221e" : show(mode.persistence, scale)),
      certificate(mode.certified, doubtOf(cut.clusters[cut.labels[mode.leaf]])),
      ...coordinates(mode.point)))));
  byId("saddle-table").replaceChildren(pointHead("Saddle between", "Merges", "f", "Lower bound"),
    make("tbody", {}, ...data.saddles.map((saddle) => make("tr", {},
      make("th", {scope: "row"}, `modes ${saddle.modes.join(" and ")}`),
      make("td", {}, saddle.merges ? "yes" : "no"), make("td", {}, show(saddle.height, scale)),
      make("td", {}, show(saddle.bound, scale)), certificate(saddle.certified),
      ...coordinates(saddle.point)))));
  byId("mode-count").textContent = counted(data.n_modes, "mode");
  byId("saddle-count").textContent = counted(data.n_saddles, "saddle");
  byId("saddle-table").parentElement.hidden = !data.saddles.length;
  byId("points-caption").textContent = omitted();
}

const counted = (n, what) => `${fixed(n, 0)} ${what}${n === 1 ? "" : "s"}`;

function omitted() {
  const left = {modes: data.n_modes - data.modes.length, saddles: data.n_saddles - data.saddles.length};
  const some = Object.entries(left).filter(([, n]) => n > 0);
  const words = some.map(([what, n]) => `${fixed(n, 0)} more ${what}`);
  return words.length ? `Not shown: ${words.join(" and ")}, those of the highest f.` : "";
}

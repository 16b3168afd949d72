// Tables: clusters with the noise of the last release, where there are no intervals; modes and saddles with
// their certificates.

const EXAMPLE = 1000; // records for which the noise of a centre is stated where their number is not known

function drawClusterTable(cut) {
  const measuredOnes = data.numbers !== null;
  byId("records-choice").hidden = measuredOnes;
  notes.length = 0;
  byId("cluster-table").replaceChildren(...tableParts(cut));
  byId("other-tables").replaceChildren(...(state.printing ? otherTables(cut) : []));
  byId("cluster-caption").textContent = (measuredOnes ? measuredCaption() : clusterCaption()).join(" ");
  byId("notes").replaceChildren(...notes.map((text, i) =>
    make("li", {id: `note-${i + 1}`}, data.numbers.texts[text])));
}

const tableParts = (cut) => (data.numbers === null
  ? [clusterHead(), clusterBody(cut), clusterFoot()] : [measuredHead(), measuredBody(cut), measuredFoot()]);

// Paper has no menu: the columns that are not chosen follow in tables of their own.
function otherTables(cut) {
  const chosen = state.group, found = [];
  for (state.group = 0; state.group < nGroups; state.group++) {
    if (chosen < nGroups && state.group !== chosen) found.push(make("table", {}, ...tableParts(cut)));
  }
  state.group = chosen;
  return found;
}

// Cells that are there only if the reader has said how many records there are.
const ifRecords = (...cells) => (state.records ? cells : []);

function clusterHead() {
  const shown = groupEntries(), sizes = state.records ? 3 : 2;
  const measures = (entry) => (isNumber(entry)
    ? [subHeading("centre", "start"), subHeading("spread"), subHeading("noise")]
    : [subHeading("most frequent", "start words")]);
  return make("thead", {},
    make("tr", {}, heading("Cluster", {rowspan: 2}), heading("Components", {rowspan: 2}),
      heading("Size", {colspan: sizes, class: "name start"}),
      ...shown.map((entry) => nameHeading(entry, isNumber(entry) ? 3 : 1))),
    make("tr", {}, subHeading("share", "start"), ...ifRecords(subHeading("records")),
      subHeading("noise, records"), ...shown.flatMap(measures)));
}

function clusterBody(cut) {
  const largest = Math.max(...cut.clusters.map((cluster) => cluster.share));
  return make("tbody", {}, ...cut.clusters.map((cluster, row) => make("tr", {},
    make("th", {scope: "row"}, swatch(cluster.colour), String(cluster.number)),
    cell(String(cluster.members.length), "soft"),
    make("td", {class: "start"}, bar(cluster, largest),
      make("span", {class: "percent"}, showShare(cluster.share))),
    ...sizeCells(cluster),
    ...groupEntries().flatMap((entry) => (isNumber(entry)
      ? columnCells(cluster, entry, row, cut.k) : [addedLevels(cluster.levels, entry)])))));
}

// Probabilities of the most frequent levels, by the released mixture.
function addedLevels(levels, entry) {
  const shares = levels.length ? levels[entry.category] : [];
  const lines = mostFrequent(shares).map((place) => make("span", {class: "level"},
    make("span", {class: "level-name"}, entry.levels[place]), ` ${showShare(shares[place])}`));
  return make("td", {class: "start words"}, ...(lines.length ? lines : [NONE]));
}

function bar(cluster, largest) {
  const inner = make("span");
  inner.style.width = `${100 * cluster.share / largest}%`;
  inner.style.backgroundColor = colour(cluster.colour);
  return make("span", {class: "bar", "aria-hidden": "true"}, inner);
}

function sizeCells(cluster) {
  const noise = countNoise(cluster), size = "\u2248 " + fixed(cluster.share * (state.records || 0), 0);
  if (noise === null) return [...ifRecords(cell(size)), cell(seeLedger(), "noise")];
  if (!state.records) return [cell(showNoise(noise), "noise")];
  const percent = showShort(100 * shareNoise(cluster, state.records));
  return [cell(size), cell(`${showNoise(noise)} (${percent} %)`, "noise")];
}

function columnCells(cluster, entry, row, k) {
  const scale = entry.stddev, some = cluster.members.length > 0, column = entry.number;
  const text = (value) => show(value, scale), centre = cluster.centre[column];
  const cells = [
    cell(some ? valueText(entry, centre, text) + besideCentre(entry, centre) : NONE, "start"),
    cell(some ? text(cluster.spread[column]) + spreadUnit(entry) : NONE)];
  if (knowsCentres) cells.push(cell(showNoise(centreNoise(cluster, column, recordsOf(cluster))), "noise"));
  else if (row === 0) cells.push(make("td", {class: "noise", rowspan: k}, seeLedger()));
  return cells;
}

const seeLedger = () => make("a", {href: "#ledger"}, "see ledger");
const recordsOf = (cluster) => (state.records ? cluster.share * state.records : EXAMPLE);

function clusterFoot() {
  const totals = groupEntries().flatMap((entry) => (isNumber(entry)
    ? [cell(valueText(entry, entry.mean, (value) => show(value, entry.stddev)), "start"),
       cell(show(entry.stddev, entry.stddev) + spreadUnit(entry)), cell("")]
    : [addedLevels(all.levels, entry)]));
  return make("tfoot", {}, make("tr", {}, make("th", {scope: "row"}, "All"), cell(String(withWeight.length)),
    cell(showShare(1), "start"), ...ifRecords(cell(fixed(state.records || 0, 0))), cell(""), ...totals));
}

function clusterCaption() {
  const words = ["Share: sum of the released weights.",
    "Centre and spread: mean and standard deviation within the cluster, by the released mixture, in the " +
    "units of the data.",
    "Noise: standard deviation of the noise of the last release in these numbers; sampling error and what " +
    "earlier rounds did to the components come on top."];
  words.unshift(data.no_intervals);
  if (data.noise.counts !== null) {
    words.push("The noise of a size is in records, added up over the components of the cluster.");
  }
  if (data.noise.records !== null) words.push("A base that averages its last rounds has less.");
  if (knowsCentres && !state.records) words.push(conditional());
  return [...words, ...columnsLeftOut()];
}

const columnsLeftOut = () => (nEntries < data.n_columns
  ? [`Shown are the ${nEntries} of ${data.n_columns} columns in which components differ most.`] : []);

const conditional = () => "The number of records is not released, so the noise of a centre is given as for " +
  `a cluster of ${fixed(EXAMPLE, 0)} records; with ten times as many it is a tenth. If their number is ` +
  "public, enter it above: it stays on this page.";

// -- modes and saddles -----------------------------------------------------------------------------

const certificate = (certified, doubt = []) =>
  make("td", {class: certified ? "fine" : "flag"}, certified ? "certified" : "flagged", ...doubt);

// A certified mode of a cluster that may be noise: the word is about the density, which has noise in it.
const doubtOf = (cluster) => (mayBeNoise(cluster)
  ? [make("span", {class: "flag"}, ", cluster may be noise", ...marks(cluster, "size"))] : []);

const coordinates = (point) => groupEntries().filter(isNumber).map((entry) =>
  make("td", {}, valueText(entry, point[entry.number], (value) => show(value, entry.stddev))));

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

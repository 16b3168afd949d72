// The page: controls, and one redraw of everything whenever one of them moves.

let redrawAsked = false;

function redraw() {
  redrawAsked = false;
  const cut = clustersAt(state.k);
  drawControls(cut);
  drawSentences(cut);
  drawPortraits(cut);
  drawWhy();
  drawDendrogram(cut);
  drawView(cut);
  drawClusterTable(cut);
  if (nColumns > 1) drawProfile(cut);
  if (data.categories.length) drawLevels(cut);
  drawPointTables(cut);
}

// However many events a drag makes, the page is drawn once a frame.
function askRedraw() {
  if (!redrawAsked) requestAnimationFrame(redraw);
  redrawAsked = true;
}

function drawControls(cut) {
  byId("k").value = state.k;
  if (document.activeElement !== byId("k-number")) byId("k-number").value = state.k;
  byId("k").setAttribute("aria-valuetext", `${state.k} group${state.k > 1 ? "s" : ""}`);
  byId("k-note").textContent = `of up to ${data.cuts.length}`;
  const shown = cut.clusters.slice(0, 10);
  const more = cut.k > shown.length ? [make("li", {}, `and ${cut.k - shown.length} more`)] : [];
  byId("legend").replaceChildren(...shown.map((cluster) =>
    make("li", {}, swatch(cluster.colour), `${cluster.number}: ${clusterSize(cluster)}`)), ...more);
  const shares = shown.map((cluster) => clusterSize(cluster)).join(", ");
  byId("announcement").textContent = `${state.k} groups with shares ${shares}`;
}

function setClusters(value) {
  const k = Math.round(Number(value));
  if (!Number.isFinite(k) || k < 1) return;
  state.k = Math.min(k, data.cuts.length);
  askRedraw();
}

function listen(id, event, act) {
  byId(id).addEventListener(event, (fired) => act(fired.target.value, fired));
}

function prepareClusters() {
  for (const id of ["k", "k-number"]) byId(id).max = data.cuts.length;
  listen("k", "input", setClusters);
  listen("k-number", "input", setClusters);
  listen("k-number", "blur", () => { byId("k-number").value = state.k; });
  byId("dendrogram").addEventListener("click", (event) => setClusters(clustersAtPointer(event)));
}

function prepareView() {
  const options = () => view.axes.map((axis, i) => make("option", {value: i}, axisName(data.axes[axis])));
  const directions = data.axes.length - nColumns, n = view.axes.length;
  const told = tellingAxes();
  [state.x, state.y] = told.length === 2 ? told
    : directions ? [Math.max(0, n - 2), n - 1] : [0, Math.min(1, n - 1)];
  for (const [id, key] of [["view-x", "x"], ["view-y", "y"]]) {
    byId(id).append(...options());
    byId(id).value = state[key];
    byId(id).parentElement.hidden = onLine;
    listen(id, "change", (value) => { chooseAxis(key, Number(value)); });
  }
  for (const id of ["show-samples", "show-points"]) listen(id, "change", askRedraw);
}

// The two columns of numbers in which groups differ most: what the sentences speak of.
function tellingAxes() {
  const numbers = clearTraits(clustersAt(state.k))
    .filter(({place}) => isNumber(entries[place]) && entries[place].kind !== "rank");
  const ranked = numbers.sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference))
    .map(({place}) => view.axes.indexOf(entries[place].number)).filter((axis) => axis >= 0);
  return [...new Set(ranked)].slice(0, 2).sort((a, b) => a - b);
}

// Two different axes, always: choosing the other one swaps them.
function chooseAxis(key, value) {
  const other = key === "x" ? "y" : "x";
  if (value === state[other]) state[other] = state[key];
  state[key] = value;
  byId("view-x").value = state.x;
  byId("view-y").value = state.y;
  askRedraw();
}

function prepareTable() {
  for (let i = 0; i < nGroups; i++) {
    const last = Math.min(nEntries, (i + 1) * GROUP);
    byId("group").append(make("option", {value: i}, `${i * GROUP + 1} to ${last} of ${nEntries}`));
  }
  byId("group").append(make("option", {value: nGroups}, `all ${nEntries}`));
  byId("group-choice").hidden = nGroups < 2;
  listen("group", "change", (value) => { state.group = Number(value); askRedraw(); });
  byId("records").value = "";
  listen("records", "input", (value) => {
    const records = Math.round(Number(value));
    state.records = records >= 1 && Number.isFinite(records) ? records : null;
    askRedraw();
  });
}

function prepareTheme() {
  const button = byId("theme");
  const name = () => {
    button.textContent = isDark() ? "Light colours" : "Dark colours";
    button.setAttribute("aria-pressed", String(isDark()));
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    name();
    askRedraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { name(); askRedraw(); });
  name();
}

// Paper is white: pictures are drawn for it, then as before.
function preparePrint() {
  const root = document.documentElement;
  let chosen, group, folded = [];
  window.addEventListener("beforeprint", () => {
    chosen = root.dataset.theme;
    root.dataset.theme = "light";
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((details) => { details.open = true; });
    [state.printing, group, state.group] = [true, state.group, 0];
    redraw();
  });
  window.addEventListener("afterprint", () => {
    if (chosen === undefined) delete root.dataset.theme;
    else root.dataset.theme = chosen;
    folded.forEach((details) => { details.open = false; });
    [state.printing, state.group] = [false, group];
    redraw();
  });
}

// What is linked is shown, also inside the part that is folded.
function prepareTechnical() {
  const open = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const details = target && target.closest("details");
    if (!details || details.open) return;
    details.open = true;
    target.scrollIntoView();
  };
  byId("technical").addEventListener("toggle", askRedraw); // pictures have no width while it is closed
  window.addEventListener("hashchange", open);
  open();
}

for (const id of ["controls", "main", "main-technical", "view-card"]) byId(id).hidden = false;
prepareClusters();
prepareView();
prepareTable();
byId("profile-card").hidden = nColumns < 2; // the table says it all
prepareLevels();
prepareExports();
prepareTheme();
preparePrint();
prepareTechnical();
foldable("all-portraits");
foldable("all-columns");
redraw();
window.addEventListener("resize", askRedraw);

// What every part of the page uses: the data, elements, numbers as text, colours.

const data = JSON.parse(document.getElementById("data").textContent);
const state = {k: data.n_clusters, x: 0, y: 0, group: 0, records: null, printing: false};

const byId = (id) => document.getElementById(id);
const SVG = byId("dendrogram").namespaceURI; // read off the page, so that no address is written in it

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) node.setAttribute(name, value);
  }
  node.append(...children); // strings become text, never markup
  return node;
}

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

// -- numbers ---------------------------------------------------------------------------------------

const withMinus = (text) => text.replace("-", "\u2212");

function fixed(value, decimals) {
  const digits = Math.min(Math.max(decimals, 0), 12);
  const format = {minimumFractionDigits: digits, maximumFractionDigits: digits};
  return withMinus(value.toLocaleString("en", format));
}

// A number to about a hundredth of the scale on which it matters.
function show(value, scale) {
  if (value === null || !Number.isFinite(value)) return "\u2013";
  if (Math.abs(value) >= 1e9 || scale < 1e-7) return withMinus(value.toPrecision(5));
  return fixed(value, scale > 0 ? 2 - Math.floor(Math.log10(scale)) : 2);
}

const showNoise = (value) =>
  value === null || !Number.isFinite(value) ? "\u2013" : "\u00b1 " + showShort(value);

// Two digits that matter: enough for a standard deviation.
function showShort(value) {
  if (value === 0) return "0";
  if (value >= 1e9 || value < 1e-6) return value.toPrecision(2);
  return fixed(value, 1 - Math.floor(Math.log10(value)));
}

const showShare = (share) => fixed(100 * share, 1) + " %";

function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step || 0); // never -0
  return {values: found, text: (value) => show(value, 100 * step)};
}

const isNarrow = () => matchMedia("(max-width: 560px)").matches;

const PEN = document.createElement("canvas").getContext("2d");

// As much of a text as is no wider than this, in the type of the pictures.
function fitted(text, width, weight = 400, size = 12) {
  PEN.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  let shown = text;
  while (shown.length > 1 && PEN.measureText(shown).width > width) shown = shown.slice(0, -2).trimEnd() + "\u2026";
  return shown;
}

const widthOf = (text, weight = 400, size = 12) => {
  PEN.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return PEN.measureText(text).width;
};

// The first of a list, unless all are wanted; the button says which.
const unfolded = new Set();

function foldedList(button, items, most, what) {
  const node = byId(button), all = unfolded.has(button);
  node.hidden = items.length <= most;
  node.textContent = all ? `Show ${most} ${what}` : `Show all ${items.length} ${what}`;
  node.setAttribute("aria-expanded", String(all));
  return all ? items : items.slice(0, most);
}

function foldable(button) {
  byId(button).addEventListener("click", () => {
    if (!unfolded.delete(button)) unfolded.add(button);
    askRedraw();
  });
}

const shorten = (text, most) => (text.length > most ? text.slice(0, most - 1) + "\u2026" : text);

// -- colours ---------------------------------------------------------------------------------------

// Six of Okabe and Ito, and four that stay apart from them under the three kinds of colour blindness.
const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                 "#56b4e9", "#7e3251", "#0c4898", "#a3be91", "#b22a06"];
const GOLDEN_ANGLE = 137.508;

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// Red, green and blue of the i-th colour; paler on dark paper.
function rgb(i) {
  const plain = i < PALETTE.length
    ? [1, 3, 5].map((at) => parseInt(PALETTE[i].slice(at, at + 2), 16))
    : fromHue((40 + i * GOLDEN_ANGLE) % 360, 0.55, [0.36, 0.5, 0.62][i % 3]);
  return plain.map((value) => Math.round(isDark() ? value + 0.25 * (255 - value) : value));
}

function fromHue(hue, saturation, lightness) {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((offset) => {
    const place = (offset + hue / 30) % 12;
    return 255 * (lightness - chroma * Math.max(-1, Math.min(place - 3, 9 - place, 1)));
  });
}

const colour = (i) => `rgb(${rgb(i).join(", ")})`;

function swatch(i) {
  const mark = make("span", {class: "swatch", "aria-hidden": "true"});
  mark.style.backgroundColor = colour(i);
  return mark;
}

const paint = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

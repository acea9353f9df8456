/**
 * The colours of clusters: ten that stay apart under the common kinds of colour blindness, on a light and on a dark page.
 *
 * The first six are Okabe and Ito's; the others were chosen as far as possible from those before them under normal
 * vision, protanopia, deuteranopia and tritanopia. The numbers on the map tell further clusters apart.
 */

const LIGHT = [
  "0072b2",
  "e69f00",
  "009e73",
  "cc79a7",
  "56b4e9",
  "d55e00",
  "7a28d8",
  "5e2f10",
  "251a86",
  "d6114a",
];
const DARK = [
  "4aa3df",
  "f0b429",
  "2bbf94",
  "e59ac4",
  "a6ddf7",
  "f07a3a",
  "9c5cff",
  "9a7350",
  "dfee9c",
  "c2479e",
];

const dark = matchMedia("(prefers-color-scheme: dark)");

/** @typedef {[number, number, number]} Rgb */

/**
 * The colour of a cluster; from the eleventh on, tints and shades of the same ten.
 *
 * @param {number} slot
 * @returns {Rgb}
 */
function rgb(slot) {
  const base = parse((dark.matches ? DARK : LIGHT)[slot % LIGHT.length]);
  const round = Math.floor(slot / LIGHT.length) % 3;
  if (round === 0) return base;
  const towards = round === 1 ? 255 : 0;
  return /** @type {Rgb} */ (base.map((part) => Math.round(part + 0.45 * (towards - part))));
}

/** For style sheets. @param {number} slot */
export function colourOf(slot) {
  return `rgb(${rgb(slot).join(" ")})`;
}

/** For pixels: red in the lowest byte, opaque. @param {number} slot */
export function pixelOf(slot) {
  return pack(rgb(slot));
}

/** A colour of the style sheet, for pixels. @param {string} property */
export function pixelOfStyle(property) {
  return pack(parse(styleOf(property).replace("#", "")));
}

/** Colours of the style sheet that were read; reading one again costs a pass over all styles.
 * @type {Map<string, string>} */
const known = new Map();
onTheme(() => known.clear());

/** A colour of the style sheet, as `#rrggbb`. @param {string} property */
export function styleOf(property) {
  const found =
    known.get(property) ?? getComputedStyle(document.documentElement).getPropertyValue(property).trim();
  known.set(property, found);
  return found;
}

/** Call when the system changes from light to dark or back. @param {() => void} listener */
export function onTheme(listener) {
  dark.addEventListener("change", listener);
}

/** @param {string} hex @returns {Rgb} */
function parse(hex) {
  const number = parseInt(hex, 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/** @param {Rgb} parts */
function pack([red, green, blue]) {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

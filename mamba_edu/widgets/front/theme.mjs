// Colours: the page's own paper and ink, and the course's colours, legible on both.

const ROLE_COLOURS = {
  input: [119, 119, 119],
  state: [0, 114, 178],
  output: [230, 159, 0],
  step: [0, 158, 115],
  cls: [213, 94, 0],
  needle: [204, 121, 167],
};
const COLD = [[209, 229, 240], [146, 197, 222], [67, 147, 195], [33, 102, 172], [5, 48, 97]];
const WARM = [[253, 219, 199], [244, 165, 130], [214, 96, 77], [178, 24, 43], [103, 0, 31]];
const COLD_IN_THE_DARK = [[24, 44, 66], [30, 74, 120], [45, 116, 181], [92, 163, 224], [176, 215, 255]];
const WARM_IN_THE_DARK = [[66, 32, 26], [116, 44, 32], [178, 66, 46], [229, 122, 92], [255, 203, 184]];

const GAMMA = 0.6; // small states show too; the bar beside a map says which colour is which

/** Read "rgb(1, 2, 3)" or "rgba(1, 2, 3, 0.5)", as browsers write computed colours. */
export function parseColour(text) {
  const numbers = (text.match(/[\d.]+/g) || []).map(Number);
  return numbers.length >= 3 && numbers[3] !== 0 ? numbers.slice(0, 3) : null;
}

/** Go part of the way from one colour to another. */
export function mixColours(from, to, share) {
  return from.map((value, k) => Math.round(value + (to[k] - value) * share));
}

/** Write a colour for a canvas. */
export function writeColour(rgb, alpha = 1) {
  return `rgba(${rgb.join(", ")}, ${alpha})`;
}

/** Compute the colour of each code -127..127: 0 is the paper's side, in the middle. */
export function buildColourTable(isDark) {
  const middle = isDark ? [22, 22, 24] : [250, 250, 250];
  const cold = [middle, ...(isDark ? COLD_IN_THE_DARK : COLD)];
  const warm = [middle, ...(isDark ? WARM_IN_THE_DARK : WARM)];
  return Array.from({ length: 255 }, (_, k) => {
    const ends = k < 127 ? cold : warm;
    const place = (Math.abs(k - 127) / 127) ** GAMMA * (ends.length - 1);
    const below = Math.min(Math.floor(place), ends.length - 2);
    return mixColours(ends[below], ends[below + 1], place - below);
  });
}

/** Read what the page looks like around an element. */
export function readTheme(element) {
  const style = getComputedStyle(element);
  const paper = parseColour(style.backgroundColor) || [255, 255, 255];
  const ink = parseColour(style.color) || [20, 20, 20];
  const isDark = 0.299 * paper[0] + 0.587 * paper[1] + 0.114 * paper[2] < 110;
  const roles = Object.entries(ROLE_COLOURS).map(([role, rgb]) => [
    role,
    writeColour(isDark ? mixColours(rgb, [255, 255, 255], 0.35) : rgb),
  ]);
  return {
    ...Object.fromEntries(roles),
    words: Object.fromEntries(Object.entries(ROLE_COLOURS).map(([role, rgb]) => [role, writeColour(mixColours(rgb, ink, 0.4))])),
    soft: writeColour(mixColours(ink, paper, 0.55)),
    isDark,
    key: `${paper} ${ink} ${style.fontSize}`,
    paper: writeColour(paper),
    ink: writeColour(ink),
    muted: writeColour(mixColours(ink, paper, 0.35)),
    faint: writeColour(mixColours(ink, paper, 0.78)),
    veil: writeColour(paper, 0.72),
    table: buildColourTable(isDark),
    size: parseFloat(style.fontSize) || 14,
    family: style.fontFamily || "sans-serif",
  };
}

/** Call back when the notebook's or the system's theme changes; returns how to stop. */
export function watchTheme(onChange) {
  const observer = new MutationObserver(onChange);
  const attributeFilter = ["data-jp-theme-light", "data-jp-theme-name", "class"];
  observer.observe(document.body, { attributes: true, attributeFilter });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", onChange);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", onChange);
  };
}

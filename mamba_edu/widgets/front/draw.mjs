// What every picture needs: a sharp canvas, words, numbers, scales, shapes.

/** Fit a canvas to its size on the page and clear it; drawing is in the page's pixels. */
export function fitCanvas(canvas, width, height) {
  const density = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
  if (canvas.style) [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  const context = canvas.getContext("2d");
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Write a number with three digits that count, as people write it. */
export function formatNumber(value) {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e-5 && size < 1e5 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
  return text.replaceAll("-", "−").replace("e+", "e");
}

/** Write a share as a percentage that never says 0 or 100 for what is neither. */
export function formatShare(share) {
  if (!Number.isFinite(share)) return "not a number";
  if (share > 0 && share < 0.001) return "under 0.1 %";
  if (share < 1 && share > 0.999) return "over 99.9 %";
  return `${Number((100 * share).toPrecision(3))} %`;
}

/** Write words on a canvas. */
export function drawText(context, theme, words, x, y, options = {}) {
  const { align = "left", base = "middle", colour = theme.ink, scale = 1, bold = false } = options;
  context.font = `${bold ? "600 " : ""}${theme.size * scale}px ${theme.family}`;
  [context.textAlign, context.textBaseline, context.fillStyle] = [align, base, colour];
  context.fillText(words, x, y);
}

/** Make the map from a value to a height within a row, its ends a little inside. */
export function makeHeight(row, low, high) {
  const span = high - low || 1;
  return (value) => row.top + row.height - 3 - ((value - low) / span) * (row.height - 6);
}

/** Draw a row's frame lines and the numbers at its ends. */
export function drawScale(context, theme, row, values, height) {
  context.fillStyle = theme.faint;
  for (const value of values) {
    const y = height(value);
    context.fillRect(row.left, Math.round(y), row.width, 1);
    drawText(context, theme, formatNumber(value), row.left + row.width + 6, y, {
      colour: theme.muted,
      scale: 0.85,
    });
    context.fillStyle = theme.faint;
  }
}

/** Draw a line through finite values; it breaks where there is no number. */
export function drawCurve(context, xs, ys, colour, width) {
  context.beginPath();
  let isDown = false;
  for (let k = 0; k < xs.length; k++) {
    const isThere = Number.isFinite(ys[k]);
    if (isThere && isDown) context.lineTo(xs[k], ys[k]);
    else if (isThere) context.moveTo(xs[k], ys[k]);
    isDown = isThere;
  }
  [context.strokeStyle, context.lineWidth, context.lineJoin] = [colour, width, "round"];
  context.stroke();
}

/** Draw the bar that explains the colours, its zero in the middle. */
export function drawColourBar(context, theme, box, reach) {
  const step = box.height / theme.table.length;
  theme.table.forEach((rgb, k) => {
    context.fillStyle = `rgb(${rgb.join(",")})`;
    context.fillRect(box.left, box.top + box.height - (k + 1) * step, box.width, step + 0.6);
  });
  const ends = [[reach, 0], [0, 0.5], [-reach, 1]];
  for (const [value, place] of ends) {
    const inside = (0.5 - place) * theme.size * 0.85;
    drawText(context, theme, formatNumber(value), box.left + box.width + 5, box.top + place * box.height + inside, {
      colour: theme.muted,
      scale: 0.85,
    });
  }
}

const MISSING = [[60, 60, 60], [200, 200, 200]]; // a chequerboard: no number of any size looks like it

/** Paint a grid of codes -128..127 into a picture of one pixel a cell; rows come first. */
export function paintCodes(codes, rows, columns, theme, place) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const code = codes[place(row, column)];
      const rgb = code === -128 ? MISSING[(row + column) % 2] : theme.table[code + 127];
      image.data.set([rgb[0], rgb[1], rgb[2], 255], 4 * (row * columns + column));
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

// A stand-in for the browser: canvases that write down what is drawn, elements that hear events.

import { readTheme } from "../../mamba_edu/widgets/front/theme.mjs";

/** Make the few drawing methods that answer or keep something; all others are only written down. */
function makeAnswers(context, canvas) {
  let path = [];
  const add = (...args) => path.push(args);
  return {
    measureText: (words) => ({ width: 6 * words.length }),
    createImageData: (width, height) => ({ width, height, data: new Uint8ClampedArray(4 * width * height) }),
    putImageData: (image) => (canvas.image = image),
    beginPath: () => (path = []),
    moveTo: add,
    lineTo: add,
    fill: () => (context.calls.at(-1).path = path),
    stroke: () => (context.calls.at(-1).path = path),
  };
}

/** Make a context whose `calls` hold each method called, with the look it was called in. */
export function makeContext(canvas = {}) {
  const context = { calls: [], globalAlpha: 1 };
  const answers = makeAnswers(context, canvas);
  return new Proxy(context, {
    get(target, name) {
      if (name in target) return target[name];
      return (...args) => {
        const { fillStyle, strokeStyle, globalAlpha } = target;
        target.calls.push({ name, args, fillStyle, strokeStyle, globalAlpha });
        return answers[name]?.(...args);
      };
    },
  });
}

/** Make an element that keeps what it is given; `hear` hands it an event. */
export function makeStubElement(tagName) {
  const heard = {};
  const element = { tagName, attributes: {}, dataset: {}, style: {}, children: [], className: "", textContent: "", value: "" };
  const context = makeContext(element);
  return Object.assign(element, {
    getContext: () => context,
    setAttribute: (name, value) => (element.attributes[name] = value),
    append: (...children) => element.children.push(...children),
    replaceChildren: (...children) => (element.children = children),
    addEventListener: (name, handle) => (heard[name] = [...(heard[name] ?? []), handle]),
    removeEventListener: (name, handle) => (heard[name] = heard[name].filter((other) => other !== handle)),
    hear: (name, event) => (heard[name] ?? []).forEach((handle) => handle(event)),
    focus() {},
    setPointerCapture() {},
  });
}

globalThis.window = { devicePixelRatio: 1 };
globalThis.document = { createElement: makeStubElement };

/** Make the theme of a light page, or of a dark one. */
export function makeTheme(isDark = false) {
  const [paper, ink] = isDark ? ["rgb(17, 17, 17)", "rgb(230, 230, 230)"] : ["rgb(255, 255, 255)", "rgb(20, 20, 20)"];
  globalThis.getComputedStyle = () => ({ backgroundColor: paper, color: ink, fontSize: "10px", fontFamily: "serif" });
  return readTheme(null);
}

/** List the calls of one method. */
export function list(context, name) {
  return context.calls.filter((call) => call.name === name);
}

/** Find where words were written: x and y, or undefined. */
export function findWords(context, words) {
  const call = list(context, "fillText").find(({ args }) => args[0] === words);
  return call && { x: call.args[1], y: call.args[2] };
}

/** List the rectangles filled in one colour. */
export function listFilled(context, colour) {
  return list(context, "fillRect")
    .filter(({ fillStyle }) => fillStyle === colour)
    .map(({ args: [left, top, width, height], globalAlpha }) => ({ left, top, width, height, globalAlpha }));
}

/** Find the picture put onto a canvas, and read its colours: pixel(row, column). */
export function findPicture(context) {
  const { args: [{ image }, left, top, width, height] } = list(context, "drawImage")[0];
  const pixel = (row, column) => [...image.data.subarray(4 * (row * image.width + column)).subarray(0, 3)];
  return { rows: image.height, columns: image.width, pixel, left, top, width, height };
}

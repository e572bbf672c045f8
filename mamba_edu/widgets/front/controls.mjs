// Buttons and sliders that keep their keys in a notebook, and words for those who listen.

/** Make an element with attributes, properties and children. */
export function makeElement(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Split words with **strong** ones among them into what a paragraph holds. */
export function splitStrong(words) {
  return words.split("**").map((part, k) => (k % 2 ? makeElement("strong", { textContent: part }) : part));
}

/** Let an element that takes keys keep them: notebooks swallow arrows in command mode. */
export function keepKeys(element) {
  element.dataset.lmSuppressShortcuts = "true";
  return element;
}

/** Make a button; its words are its name too. */
export function makeButton(words, title, onPress) {
  const button = makeElement("button", { type: "button", title, textContent: words });
  button.addEventListener("click", onPress);
  return keepKeys(button);
}

/** Make a slider over whole numbers with its label before and its reading after. */
export function makeRange(words, { max, value, read }, onMove) {
  const input = keepKeys(makeElement("input", { type: "range", min: "0", max: `${max}`, ariaLabel: words }));
  const reading = makeElement("span", { className: "mamba-value" });
  const set = (k) => {
    input.value = `${k}`;
    reading.textContent = read(k);
    input.setAttribute("aria-valuetext", read(k));
  };
  input.addEventListener("input", () => {
    set(Number(input.value));
    onMove(Number(input.value));
  });
  set(value);
  return { element: makeElement("label", {}, makeElement("span", { textContent: words }), input, reading), set };
}

/** Make a choice among words; k is the place in the list. */
export function makeChoice(words, names, value, onChoose) {
  const items = names.map((name, k) => makeElement("option", { value: `${k}`, textContent: name }));
  const select = keepKeys(makeElement("select", { ariaLabel: words }, ...items));
  select.value = `${value}`;
  select.addEventListener("change", () => onChoose(Number(select.value)));
  const label = makeElement("label", {}, makeElement("span", { textContent: words }), select);
  return { element: label, set: (k) => (select.value = `${k}`) };
}

/** Speak through a live region, but only after things have stood still for a moment. */
export function makeVoice(region, pause = 350) {
  let timer = 0;
  return {
    say(words) {
      clearTimeout(timer);
      timer = setTimeout(() => (region.textContent = words), pause);
    },
    stop: () => clearTimeout(timer),
  };
}

/** Fill the screen with an element, or go back. */
export function toggleFullScreen(element) {
  if (document.fullscreenElement) return document.exitFullscreen();
  return element.requestFullscreen?.().catch(() => undefined);
}

/** Let a widget that cannot be drawn say so in words: a reader never faces a blank. */
export function guard(render) {
  return (call) => {
    try {
      return render(call);
    } catch (error) {
      const words = `This could not be drawn (${error.message}). Run the cell again, or see the still picture.`;
      call.el.replaceChildren(makeElement("p", { className: "mamba mamba-fault", textContent: words }));
      return () => call.el.replaceChildren();
    }
  };
}

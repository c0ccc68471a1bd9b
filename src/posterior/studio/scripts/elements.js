// Elements made by hand. Names and cells only ever become text nodes and attributes: nothing is parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return node;
}

/** An HTML element with attributes (`onclick` and the like listen) and children. */
export function element(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** A name from the data, with its own direction of writing; one that is long may be broken anywhere. */
export function named(name) {
  return element("bdi", { class: name.length > 30 ? "long" : null }, name);
}

/** An SVG element. */
export function drawn(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** The colour of a class, by its place. */
export function classColour(k) {
  return `var(--class-${k % 8})`;
}

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 }); // made once: toLocaleString makes one a number

/** A number for people: few digits, a real minus sign. */
export function shownNumber(value, digits = 3) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  let text;
  if (size >= 1000) text = GROUPED.format(value);
  else if (size > 1e-9 && size < 0.5 * 10 ** -digits) text = value.toExponential(1);
  else text = value.toFixed(size >= 100 ? Math.min(1, digits) : digits);
  return text.replace("-", "−");
}

/** A share as a percentage. */
export function percent(share, digits = 1) {
  return Number.isNaN(share) ? "–" : `${(100 * share).toFixed(digits)} %`;
}

/**
 * Words that change, written only where they have: a page that stays the same is not laid out again. They go into the
 * text that is there, since a new one would be styled again, and its box made again, in every frame.
 */
export function say(node, words) {
  const text = node.firstChild;
  if (!text || words === "") node.textContent = words;
  else if (text.data !== words) text.data = words;
}

let lastId = 0;

/** A name for an element that a label or a description points to. */
export function freshId(word) {
  lastId += 1;
  return `${word}-${lastId}`;
}

/** A slider with its number beside it; `change(value)` hears both. `set` moves it without telling. */
export function slider({ label, low, high, step, value, change, unit = "" }) {
  const id = freshId("slide");
  const range = element("input", { type: "range", id, min: low, max: high, step, value, oninput: () => moved(range, box) });
  const box = element("input", {
    type: "number", min: low, max: high, step: "any", value, "aria-label": `${label}, as a number`,
    oninput: () => moved(box, range),
  });
  let last = NaN; // what both show: they are written, which is slow, only where that changes
  const moved = (from, to) => {
    const given = from.valueAsNumber;
    if (!Number.isFinite(given) || given < low || given > high) return;
    to.value = last = given;
    change(given);
  };
  const node = element("div", { class: label.length > 14 ? "slider long" : "slider" }, element("label", { for: id }, label), range,
    element("span", { class: "boxed" }, box, unit ? element("span", { class: "unit" }, unit) : null));
  // The number of a slider that another one moves is written ten times a second: nobody reads faster, and it is slow.
  let waiting = 0;
  const written = () => { waiting = 0; if (document.activeElement !== box) box.value = Number(last.toPrecision(6)); };
  const set = given => {
    if (given === last) return;
    last = given;
    if (document.activeElement !== range) range.value = given;
    waiting ||= setTimeout(written, 100);
  };
  return { node, set, range, box };
}

/** Work that is done at most once a frame, however often it is asked for. */
export function oncePerFrame(work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; work(); });
  };
}

/**
 * Work for a part of the page that is out of sight, or not even near, waits until the part is seen or the hand rests:
 * `now` is for every frame, `rest` for the time after, and `seen` says whether it is in sight.
 */
export function whileInSight(node, work) {
  let inSight = true, due = false;
  const done = () => { due = false; work(); };
  new IntersectionObserver(entries => {
    inSight = entries[entries.length - 1].isIntersecting;
    if (inSight && due) done();
  }, { rootMargin: "60px" }).observe(node);
  return { seen: () => inSight, now: () => { if (inSight) done(); else due = true; }, rest: () => { if (due) done(); } };
}

// A square piece of the plane: a canvas that is shaded, lines and handles above it, moved by pointer, touch and keys.
import { ticks } from "./charts.js";
import { drawn, element } from "./elements.js";
import { chained } from "./gaussians.js";

const SIDE = 400; // units of the picture

/** What the classes of a picture are called. */
export const LETTERS = ["A", "B", "C"];

/** Colours as numbers, from the custom properties of an element. */
export function coloursOf(node, names) {
  const style = getComputedStyle(node);
  return names.map(name => {
    const text = style.getPropertyValue(name).trim().replace("#", "");
    return [0, 2, 4].map(at => parseInt(text.slice(at, at + 2), 16));
  });
}

export class Plane {
  constructor([x0, x1, y0, y1], label, xLabel = "x₁", yLabel = "x₂") {
    Object.assign(this, { x0, x1, y0, y1 });
    this.canvas = element("canvas", { width: 200, height: 200, "aria-hidden": "true" });
    this.lines = drawn("g");
    this.handles = drawn("g");
    this.svg = drawn("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group", "aria-label": label }, this.grid(xLabel, yLabel), this.lines, this.handles);
    this.node = element("div", { class: "plane" }, this.canvas, this.svg);
  }

  get frame() {
    return [this.x0, this.x1, this.y0, this.y1];
  }

  grid(xLabel, yLabel) {
    const parts = [];
    for (const t of ticks(this.x0, this.x1, 6).slice(1, -1)) {
      parts.push(drawn("text", { class: "tick", x: this.at([t, 0])[0], y: SIDE - 5, "text-anchor": "middle" }, String(Number(t.toPrecision(4))).replace("-", "−")));
    }
    for (const t of ticks(this.y0, this.y1, 6).slice(1, -1)) {
      parts.push(drawn("text", { class: "tick", x: 5, y: this.at([0, t])[1] + 4 }, String(Number(t.toPrecision(4))).replace("-", "−")));
    }
    parts.push(drawn("text", { class: "tick name", x: SIDE - 5, y: SIDE - 5, "text-anchor": "end" }, xLabel), drawn("text", { class: "tick name", x: 5, y: 14 }, yLabel));
    return drawn("g", { "aria-hidden": "true" }, parts);
  }

  /** The place of a point in the picture. */
  at([x, y]) {
    return [(x - this.x0) / (this.x1 - this.x0) * SIDE, (this.y1 - y) / (this.y1 - this.y0) * SIDE];
  }

  /** The point of an event. */
  pointOf(event) {
    const box = this.svg.getBoundingClientRect();
    return [this.x0 + (event.clientX - box.left) / box.width * (this.x1 - this.x0), this.y1 - (event.clientY - box.top) / box.height * (this.y1 - this.y0)];
  }

  /** A point within the frame, a little off its edges. */
  inside([x, y]) {
    const dx = (this.x1 - this.x0) * 0.01, dy = (this.y1 - this.y0) * 0.01;
    return [Math.min(Math.max(x, this.x0 + dx), this.x1 - dx), Math.min(Math.max(y, this.y0 + dy), this.y1 - dy)];
  }

  /** Shade the plane: `colourAt(point)` gives red, green, blue and how much of it. */
  shade(colourAt) {
    const { width, height } = this.canvas, context = this.canvas.getContext("2d"), image = context.createImageData(width, height);
    for (let j = 0, at = 0; j < height; j++) {
      const y = this.y1 - (j + 0.5) / height * (this.y1 - this.y0);
      for (let i = 0; i < width; i++, at += 4) {
        const [red, green, blue, much] = colourAt([this.x0 + (i + 0.5) / width * (this.x1 - this.x0), y]);
        image.data[at] = red;
        image.data[at + 1] = green;
        image.data[at + 2] = blue;
        image.data[at + 3] = 255 * much;
      }
    }
    context.putImageData(image, 0, 0);
  }

  /** A line through points. */
  path(points, attributes) {
    const d = points.map((point, i) => { const [x, y] = this.at(point); return `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`; }).join("");
    return drawn("path", { d, fill: "none", ...attributes });
  }

  /** Pieces of a line, two points each, put together where they meet, so that dashes go on. */
  pieces(pairs, attributes) {
    const d = chained(pairs).map(points => points.map((point, i) => { const [x, y] = this.at(point); return `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`; }).join("")).join("");
    return drawn("path", { d, fill: "none", ...attributes });
  }

  /** The ellipse of points at so many standard deviations of a covariance with these axes. */
  ellipse(mean, { a, b, angle }, times, attributes) {
    const points = Array.from({ length: 65 }, (_, i) => {
      const t = i / 64 * 2 * Math.PI, u = times * a * Math.cos(t), v = times * b * Math.sin(t);
      return [mean[0] + u * Math.cos(angle) - v * Math.sin(angle), mean[1] + u * Math.sin(angle) + v * Math.cos(angle)];
    });
    return this.path(points, attributes);
  }

  /** Something to be dragged, or moved with the arrow keys; `move(point)` hears where to, `say()` gives its words. */
  handle({ at, move, say, colour, small = false, shape = "circle", remove = null }) {
    const dot = shape === "circle" ? drawn("circle", { r: small ? 5.5 : 8 }) : drawn("path", { d: "M0 -8L8 0L0 8L-8 0Z" });
    const node = drawn("g", { class: small ? "handle small" : "handle", tabindex: "0", role: "button", fill: colour }, drawn("circle", { class: "reach", r: 20 }), dot);
    const place = () => {
      const [x, y] = this.at(at());
      node.setAttribute("transform", `translate(${x} ${y})`);
      node.setAttribute("aria-label", say());
    };
    node.addEventListener("pointerdown", event => {
      node.setPointerCapture(event.pointerId);
      event.stopPropagation();
      node.focus({ preventScroll: true });
    });
    // A finger on a handle drags it, and does not scroll the page; elsewhere in the picture it scrolls.
    node.addEventListener("touchstart", event => event.preventDefault(), { passive: false });
    node.addEventListener("pointermove", event => { if (node.hasPointerCapture(event.pointerId)) move(this.inside(this.pointOf(event))); });
    node.addEventListener("click", event => event.stopPropagation());
    node.addEventListener("keydown", event => {
      const step = (event.shiftKey ? 0.1 : 0.02) * (this.x1 - this.x0), [x, y] = at();
      const to = { ArrowLeft: [x - step, y], ArrowRight: [x + step, y], ArrowUp: [x, y + step], ArrowDown: [x, y - step] }[event.key];
      if (to) { event.preventDefault(); move(this.inside(to)); }
      if (remove && ["Delete", "Backspace"].includes(event.key)) { event.preventDefault(); remove(); }
    });
    this.handles.append(node);
    place();
    return { node, place };
  }
}

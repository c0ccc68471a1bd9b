// Charts in SVG, by hand: axes once, paths again at every setting.
import { classColour, drawn, element, freshId, say, shownNumber } from "./elements.js";

const WIDE = 380, HIGH = 240, LEFT = 46, RIGHT = 12, TOP = 10, BOTTOM = 38;

/** Round numbers between two ends, about so many. */
export function ticks(low, high, about = 5) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => span / s <= about) ?? 10 * power;
  const found = [];
  for (let t = Math.ceil(low / step - 1e-9); t * step <= high + 1e-9 * span; t++) found.push(t * step);
  return found;
}

/** A round number at or above another, for the end of an axis. */
export function nice(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map(m => m * power).find(m => m >= value * 0.999999);
}

/** A chart of lines: `series` are name, class and (optional) dash; `update` moves them. */
export class LineChart {
  constructor({ title, xLabel, yLabel, series, diagonal = false }) {
    const id = freshId("chart");
    this.heading = element("h3", { id }, title);
    this.series = series.map(({ name, colour, dashed }) => ({
      name, path: drawn("path", { class: "line tenths", stroke: colour, transform: "scale(0.1)", "stroke-dasharray": dashed ? "50 40" : null }), drawn: "",
    }));
    this.axes = drawn("g", { class: "axes" });
    this.marks = drawn("g", { class: "marks" });
    this.xLabel = drawn("text", { class: "label", x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 4, "text-anchor": "middle" }, xLabel);
    this.yLabel = drawn("text", { class: "label", transform: `translate(11 ${(TOP + HIGH - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, yLabel);
    this.diagonal = diagonal ? drawn("path", { class: "guide" }) : null;
    this.svg = drawn("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-labelledby": id },
      this.axes, this.diagonal, ...this.series.map(s => s.path), this.marks, this.xLabel, this.yLabel);
    this.words = element("figcaption", { class: "aside" });
    const legend = series.length > 1 ? element("p", { class: "legend" }, series.map(({ name, colour, dashed }) => element("span", null,
      drawn("svg", { class: "key", viewBox: "0 0 22 8", "aria-hidden": "true" },
        drawn("path", { d: "M0 4H22", stroke: colour, class: "line", "stroke-dasharray": dashed ? "5 4" : null })), element("bdi", null, name)))) : null;
    this.node = element("figure", { class: "chart" }, this.heading, legend, this.svg, this.words);
    this.frame = "";
  }

  /** The place of a point of the chart. */
  at(x, y) {
    const { x0, x1, y0, y1 } = this;
    return [LEFT + (x - x0) / (x1 - x0) * (WIDE - LEFT - RIGHT), HIGH - BOTTOM - (y - y0) / (y1 - y0) * (HIGH - TOP - BOTTOM)];
  }

  /** Set the ends of both axes; they are drawn again only where they have moved. */
  setFrame(x0, x1, y0, y1) {
    Object.assign(this, { x0, x1, y0, y1: y1 > y0 ? y1 : y0 + 1 });
    const frame = `${x0}|${x1}|${y0}|${y1}`;
    if (frame === this.frame) return;
    this.frame = frame;
    const lines = [];
    for (const t of ticks(this.x0, this.x1)) {
      const [x] = this.at(t, this.y0), words = plainTick(t), last = x > WIDE - RIGHT - 8 && words.length > 3;
      lines.push(drawn("path", { class: "grid", d: `M${x} ${TOP}V${HIGH - BOTTOM}` }),
        drawn("text", { x: last ? WIDE - 2 : x, y: HIGH - BOTTOM + 14, "text-anchor": last ? "end" : "middle" }, words));
    }
    for (const t of ticks(this.y0, this.y1)) {
      const [, y] = this.at(this.x0, t);
      lines.push(drawn("path", { class: "grid", d: `M${LEFT} ${y}H${WIDE - RIGHT}` }),
        drawn("text", { x: LEFT - 5, y: y + 3.5, "text-anchor": "end" }, plainTick(t)));
    }
    this.axes.replaceChildren(...lines);
    if (this.diagonal) {
      const [ax, ay] = this.at(0, 0), [bx, by] = this.at(1, 1);
      this.diagonal.setAttribute("d", `M${ax} ${ay}L${bx} ${by}`);
    }
  }

  /** Draw lines of points xs, ys; NaN leaves a hole. Paths are in tenths, since whole numbers are quickly written. */
  setLine(which, xs, ys) {
    const series = this.series[which], { x0, x1, y0, y1 } = this;
    const across = 10 * (WIDE - LEFT - RIGHT) / (x1 - x0), up = 10 * (HIGH - TOP - BOTTOM) / (y1 - y0);
    let words = "", open = false;
    for (let i = 0; i < xs.length; i++) {
      if (Number.isNaN(ys[i])) { open = false; continue; }
      const x = Math.round(10 * LEFT + (xs[i] - x0) * across), y = Math.round(10 * (HIGH - BOTTOM) - (ys[i] - y0) * up);
      words += (open ? "L" : "M") + x + " " + y;
      open = true;
    }
    if (series.drawn !== words) series.path.setAttribute("d", series.drawn = words);
  }

  /** Mark a value of x by an upright line with words; null takes the mark away. */
  mark(x, words) {
    const px = x === null ? NaN : this.at(Math.min(Math.max(x, this.x0), this.x1), this.y0)[0], right = px < (LEFT + WIDE) / 2;
    if (Object.is(this.marked, px)) return;
    this.marked = px;
    this.marks.replaceChildren(...(x === null ? [] : [drawn("g", { class: "mark" }, drawn("path", { d: `M${px} ${TOP}V${HIGH - BOTTOM}` }),
      drawn("text", { x: px + (right ? 4 : -4), y: TOP + 9, "text-anchor": right ? "start" : "end" }, words))]));
  }
}

function plainTick(value) {
  const short = Number(value.toPrecision(6)), text = Math.abs(short) > 0 && Math.abs(short) < 1e-3 ? short.toExponential() : String(short);
  return text.replaceAll("-", "−");
}

/** Predicted probability against observed frequency, with Wilson's intervals: a dot for each bin, moved where it is. */
export class ReliabilityDots {
  constructor(chart, most) {
    this.chart = chart;
    this.dots = Array.from({ length: most }, () => {
      const path = drawn("path"), circle = drawn("circle", { r: 3.2 }), title = drawn("title");
      return { path, circle, title, node: drawn("g", { class: "dot" }, path, circle, title) };
    });
    chart.marks.replaceChildren(...this.dots.map(dot => dot.node));
  }

  set(bins) {
    this.dots.forEach(({ path, circle, title, node }, b) => {
      const bin = bins[b];
      node.style.display = bin ? "" : "none";
      if (!bin) return;
      const [x, y] = this.chart.at(bin.predicted, bin.observed);
      const [, low] = this.chart.at(bin.predicted, bin.low), [, high] = this.chart.at(bin.predicted, bin.high);
      path.setAttribute("d", `M${x.toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}`);
      circle.setAttribute("cx", x.toFixed(1));
      circle.setAttribute("cy", y.toFixed(1));
      say(title, `predicted ${shownNumber(bin.predicted)}, observed ${shownNumber(bin.observed)}, ${shownNumber(bin.weight, 1)} rows`);
    });
  }
}

/** Bars for the posterior of each class. */
export class PosteriorBars {
  constructor(names, colour = classColour) {
    this.parts = names.map((name, k) => {
      const bar = element("span", { class: "fill" }), value = element("span", { class: "number" });
      bar.style.background = colour(k);
      return { bar, value, node: element("div", { class: "bar" }, element("bdi", null, name), element("span", { class: "track" }, bar), value) };
    });
    this.node = element("div", { class: "bars" }, this.parts.map(part => part.node));
  }

  set(posterior) {
    this.parts.forEach(({ bar, value }, k) => {
      const width = `${(100 * posterior[k]).toFixed(2)}%`;
      if (bar.wide !== width) bar.style.width = bar.wide = width;
      say(value, percentOf(posterior[k]));
    });
  }
}

function percentOf(p) {
  if (p > 0 && p < 0.0005) return "< 0.1 %";
  return `${(100 * p).toFixed(1)} %`;
}

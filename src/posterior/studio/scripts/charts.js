// Charts in SVG, by hand: axes once, paths again at every setting.
import { classColour, drawn, element, freshId, shownNumber } from "./elements.js";

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

/** A chart of lines: `series` are name, class and (optional) dash; `update` moves them. */
export class LineChart {
  constructor({ title, xLabel, yLabel, series, diagonal = false }) {
    const id = freshId("chart");
    this.heading = element("h3", { id }, title);
    this.series = series.map(({ name, colour, dashed }) => ({
      name, path: drawn("path", { class: "line", stroke: colour, "stroke-dasharray": dashed ? "5 4" : null }),
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
        drawn("path", { d: "M0 4H22", stroke: colour, class: "line", "stroke-dasharray": dashed ? "5 4" : null })), name))) : null;
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
      const [x] = this.at(t, this.y0);
      lines.push(drawn("path", { class: "grid", d: `M${x} ${TOP}V${HIGH - BOTTOM}` }),
        drawn("text", { x, y: HIGH - BOTTOM + 14, "text-anchor": "middle" }, plainTick(t)));
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

  /** Draw lines of points xs, ys; NaN leaves a hole. */
  setLine(which, xs, ys) {
    const { path } = this.series[which], words = [];
    let open = false;
    for (let i = 0; i < xs.length; i++) {
      if (Number.isNaN(ys[i])) { open = false; continue; }
      const [x, y] = this.at(xs[i], ys[i]);
      words.push(`${open ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`);
      open = true;
    }
    path.setAttribute("d", words.join(""));
  }

  /** Mark a value of x by an upright line with words. */
  mark(x, words, kind = "") {
    const [px] = this.at(Math.min(Math.max(x, this.x0), this.x1), this.y0), right = px < (LEFT + WIDE) / 2;
    return drawn("g", { class: `mark ${kind}` }, drawn("path", { d: `M${px} ${TOP}V${HIGH - BOTTOM}` }),
      drawn("text", { x: px + (right ? 4 : -4), y: TOP + 9, "text-anchor": right ? "start" : "end" }, words));
  }
}

function plainTick(value) {
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

/** Predicted probability against observed frequency, with Wilson's intervals. */
export function reliabilityMarks(chart, bins) {
  return bins.map(bin => {
    const [x, y] = chart.at(bin.predicted, bin.observed);
    const [, low] = chart.at(bin.predicted, bin.low), [, high] = chart.at(bin.predicted, bin.high);
    return drawn("g", { class: "dot" }, drawn("path", { d: `M${x} ${low}V${high}` }), drawn("circle", { cx: x, cy: y, r: 3.2 }),
      drawn("title", null, `predicted ${shownNumber(bin.predicted)}, observed ${shownNumber(bin.observed)}, ${shownNumber(bin.weight, 1)} rows`));
  });
}

/** Bars for the posterior of each class. */
export class PosteriorBars {
  constructor(names) {
    this.parts = names.map((name, k) => {
      const bar = element("span", { class: "fill" }), value = element("span", { class: "number" });
      bar.style.background = classColour(k);
      return { bar, value, node: element("div", { class: "bar" }, element("bdi", null, name), element("span", { class: "track" }, bar), value) };
    });
    this.node = element("div", { class: "bars" }, this.parts.map(part => part.node));
  }

  set(posterior) {
    this.parts.forEach(({ bar, value }, k) => {
      bar.style.width = `${100 * posterior[k]}%`;
      value.textContent = percentOf(posterior[k]);
    });
  }
}

function percentOf(p) {
  if (p > 0 && p < 0.0005) return "< 0.1 %";
  return `${(100 * p).toFixed(1)} %`;
}

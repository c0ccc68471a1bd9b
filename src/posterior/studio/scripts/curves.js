// The curves of a page: what other thresholds would do, and whether posteriors mean what they say. Each is drawn by itself,
// so that those out of sight need not be.
import { LineChart, ReliabilityDots, nice } from "./charts.js";
import { say, shownNumber } from "./elements.js";
import { BINS, STEPS } from "./outcomes.js";

const THRESHOLDS = Float64Array.from({ length: STEPS + 1 }, (_, t) => t / STEPS);
const ACCENT = "var(--accent)", WRONG = "var(--wrong)";

/** The charts of a page of K classes by name, and how each is drawn. */
export class CurveCharts {
  constructor(K) {
    this.charts = {};
    if (K === 2) this.charts.cost = new LineChart({ title: "Average cost by threshold", xLabel: "say the class where its posterior is above", yLabel: "average cost", series: [{ name: "cost", colour: ACCENT }] });
    this.charts.reject = new LineChart({ title: "Cost of leaving rows unanswered", xLabel: "reject a row expected to cost more than", yLabel: "average cost",
      series: [{ name: "of a row, looks included", colour: ACCENT }, { name: "of an answer", colour: WRONG, dashed: true }] });
    this.charts.precision = new LineChart({ title: "Precision and recall by threshold", xLabel: "say the class where its posterior is above", yLabel: "share",
      series: [{ name: "precision", colour: ACCENT }, { name: "recall", colour: WRONG, dashed: true }] });
    if (K !== 2) this.charts.coverage = new LineChart({ title: "Cost of an answer by how many are answered", xLabel: "share of rows answered, the surest first", yLabel: "average cost of an answer", series: [{ name: "cost", colour: ACCENT }] });
    this.charts.reliability = new LineChart({ title: "Do the posteriors mean what they say?", xLabel: "posterior of the class", yLabel: "how often it came true", series: [{ name: "", colour: "none" }], diagonal: true });
    this.dots = new ReliabilityDots(this.charts.reliability, BINS);
    this.drawn = {};
  }

  /** Draw a chart by what was found alone: the hand may have moved on while the thread beside worked this out. */
  draw(name, found) {
    // Curves depend on posteriors, costs and the class looked at; what is rejected only moves a mark.
    const key = `${found.key}|${found.look}|${name === "coverage" && found.rejects ? found.coverage : ""}`;
    if (this.drawn[name] === key) return;
    this.drawn[name] = key;
    this[name](this.charts[name], found.curves, found);
  }

  cost(chart, { cost, bayes }) {
    chart.setFrame(0, 1, Math.min(0, ...cost), nice(Math.max(...cost)));
    chart.setLine(0, THRESHOLDS, cost);
    let best = 0;
    for (let t = 1; t <= STEPS; t++) if (cost[t] < cost[best]) best = t;
    chart.mark(bayes, "implied by the costs");
    say(chart.words, bayes === null ? "These costs make one answer the best for every row."
      : `The costs imply ${shownNumber(bayes)}; on these rows ${shownNumber(best / STEPS, 2)} would have been cheapest.`);
  }

  reject(chart, curves, { look }) {
    const limits = THRESHOLDS.map(step => step * curves.high);
    chart.setFrame(0, nice(curves.high), ...costsOf(curves));
    chart.setLine(0, limits, curves.rejecting);
    chart.setLine(1, limits, curves.answeredCost);
    chart.mark(look <= curves.high ? look : null, "what a look costs");
    say(chart.words, "Cheapest where a row is left as soon as answering it is expected to cost more than a look (Chow 1970).");
  }

  coverage(chart, curves, { rejects, coverage }) {
    chart.setFrame(0, 1, ...costsOf(curves));
    chart.setLine(0, curves.coverage, curves.answeredCost);
    chart.mark(rejects ? coverage : null, "answered now");
  }

  precision(chart, { precision, recall, bayes }) {
    chart.setFrame(0, 1, 0, 1);
    chart.setLine(0, THRESHOLDS, precision);
    chart.setLine(1, THRESHOLDS, recall);
    chart.mark(bayes, "implied by the costs");
  }

  reliability(chart, _, { reliability }) {
    chart.setFrame(0, 1, 0, 1);
    this.dots.set(reliability);
    say(chart.words, "On the line the posterior is met exactly; bars are 95 % intervals.");
  }
}

/** The ends of an axis of costs. */
function costsOf({ rejecting, answeredCost }) {
  return [Math.min(0, ...rejecting), nice(Math.max(...rejecting, answeredCost[STEPS]))];
}

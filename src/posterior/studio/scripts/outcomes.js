// What a setting does to all rows together: the confusion table, costs, coverage, curves and reliability.
import { coverageLimit } from "./coverage.js";
import { decide, surestOf } from "./decisions.js";
import { wilson } from "./maths.js";

export const BINS = 10; // of the reliability diagram
export const STEPS = 200; // of the curves
const EQUAL_COST = 1e-15, ALIKE = 1e-12, HAIR = 1e-11;

/** What rejects a row: the least posterior that is answered, and the largest expected cost that is. */
function limitsOf(rows, setting, likelier) {
  const [rule, number] = setting.reject ?? [];
  if (rule === "threshold") return [number, Infinity];
  if (rule === "cost") return [0, number + EQUAL_COST * Math.abs(number)];
  if (rule !== "coverage") return [0, Infinity];
  const limit = coverageLimit(rows, number, Math.max(...likelier));
  return [0, limit + ALIKE * Math.abs(limit)];
}

/**
 * All that a page shows of a setting: the confusion table (K × K actions, rejected, outliers), costs, coverage,
 * precision and recall, curves and reliability (unless nobody sees them). `odd` marks outliers, or is null.
 */
export function outcome(rows, setting, old, observed, odd, withCurves = true) {
  const decided = decide(rows, setting, old, observed), { flat, likelier, high, total } = decided;
  const { n, K, codes, counts, risk, action, done } = rows, [theta, limit] = limitsOf(rows, setting, likelier);
  const surest = theta > 0 ? surestOf(rows) : rows.surest, width = K + 2, confusion = new Float64Array(K * width);
  let expected = 0, answered = 0, spent = 0;
  for (let i = 0; i < n; i++) {
    const w = counts[i], own = risk[i];
    let what = action[i];
    if (own > limit || (theta > 0 && surest[i] < theta)) what = K;
    if (odd !== null && odd[i] !== 0) what = K + 1;
    done[i] = what;
    confusion[codes[i] * width + what] += w;
    if (what < K) expected += w * own;
  }
  for (let k = 0; k < K; k++) {
    for (let a = 0; a < K; a++) {
      answered += confusion[k * width + a];
      spent += confusion[k * width + a] * flat[k * K + a];
    }
  }
  // What every threshold would do does not depend on the one in use, nor on outliers.
  const bins = withCurves ? decided.tallied ??= new Bins(rows, setting.positive, flat, high > 0 ? high : 1) : null;
  return {
    key: decided.key, look: setting.look, rejects: Boolean(setting.reject), confusion, width, done, answered, total, coverage: answered / total,
    cost: answered > 0 ? spent / answered : NaN,
    expected: answered > 0 ? expected / answered : NaN,
    costOfAll: (spent + (total - answered) * setting.look) / total,
    classes: byClass(confusion, K, width),
    curves: bins?.curves(setting, flat, K, total), reliability: bins?.reliability(),
  };
}

/** Precision and recall of each class; of its rows those that were rejected are not found. */
function byClass(confusion, K, width) {
  return Array.from({ length: K }, (_, k) => {
    let claimed = 0, own = 0;
    for (let truth = 0; truth < K; truth++) claimed += confusion[truth * width + k];
    for (let what = 0; what < width; what++) own += confusion[k * width + what];
    const hit = confusion[k * width + k];
    return { precision: claimed > 0 ? hit / claimed : NaN, recall: own > 0 ? hit / own : NaN, claimed, own, hit };
  });
}

/** Sums of rows by posterior and by expected cost, from which curves and the reliability diagram follow. */
class Bins {
  constructor(rows, positive, flat, high) {
    this.high = high;
    // By posterior of the class looked at: the weight of rows of other classes, of rows of it, and weight times posterior.
    const sums = this.byPosterior = new Float64Array(3 * (STEPS + 1));
    // By expected cost: weight, and weight times what the answer costs.
    const spent = this.byCost = new Float64Array(2 * (STEPS + 1));
    const { n, K, codes, counts, risk, seen, action } = rows, scale = STEPS / high;
    const hit = Uint8Array.from({ length: K }, (_, k) => (k === positive ? 1 : 0));
    for (let i = 0; i < n; i++) {
      const truth = codes[i], w = counts[i], p = seen[i], above = p * STEPS - HAIR, cost = risk[i] * scale - ALIKE;
      // The posterior must be above a threshold. A limit of step s answers the rows that cost no more than s / STEPS
      // of the largest, and a limit of nothing those that cost nothing. Both are rounded up, by whole numbers, which
      // is quicker than Math.ceil.
      const whole = above | 0, t = 3 * (above > whole || whole === 0 ? whole : whole - 1);
      sums[t + hit[truth]] += w;
      sums[t + 2] += w * p;
      const part = cost | 0, s = 2 * (cost > part ? part + 1 : part > 0 ? part : risk[i] > 0 ? 1 : 0);
      spent[s] += w;
      spent[s + 1] += w * flat[truth * K + action[i]];
    }
  }

  /** What every threshold would do: on the posterior of the class looked at, and on the cost of answering. */
  curves({ positive, look }, flat, K, total) {
    const precision = new Float64Array(STEPS + 1), recall = new Float64Array(STEPS + 1);
    const cost = K === 2 ? new Float64Array(STEPS + 1) : null, rejecting = new Float64Array(STEPS + 1);
    const coverage = new Float64Array(STEPS + 1), answeredCost = new Float64Array(STEPS + 1);
    const other = 1 - positive, { byPosterior, byCost } = this;
    let allOn = 0, allOff = 0, on = 0, off = 0, weight = 0, spent = 0;
    for (let t = 0; t <= STEPS; t++) {
      allOff += byPosterior[3 * t];
      allOn += byPosterior[3 * t + 1];
    }
    for (let t = STEPS; t >= 0; t--) {
      off += byPosterior[3 * t];
      on += byPosterior[3 * t + 1];
      precision[t] = on + off > 0 ? on / (on + off) : NaN;
      recall[t] = allOn > 0 ? on / allOn : NaN;
      if (cost) {
        cost[t] = (on * flat[positive * K + positive] + off * flat[other * K + positive]
          + (allOn - on) * flat[positive * K + other] + (allOff - off) * flat[other * K + other]) / total;
      }
    }
    for (let s = 0; s <= STEPS; s++) {
      weight += byCost[2 * s];
      spent += byCost[2 * s + 1];
      coverage[s] = weight / total;
      answeredCost[s] = weight > 0 ? spent / weight : NaN;
      rejecting[s] = (spent + (total - weight) * look) / total;
    }
    return { precision, recall, cost, rejecting, coverage, answeredCost, high: this.high, bayes: impliedThreshold(flat, K, positive) };
  }

  /** Predicted probabilities of a class against how often it came true, in ten bins of equal width, each with its right end. */
  reliability() {
    const bins = [], steps = STEPS / BINS;
    for (let b = 0; b < BINS; b++) {
      let came = 0, missed = 0, predicted = 0;
      // The last step is that of a posterior of one and a rounding error.
      for (let t = b * steps; t < (b + 1) * steps + (b === BINS - 1 ? 1 : 0); t++) {
        missed += this.byPosterior[3 * t];
        came += this.byPosterior[3 * t + 1];
        predicted += this.byPosterior[3 * t + 2];
      }
      const weight = came + missed;
      if (!(weight > 0)) continue;
      const observed = Math.min(came / weight, 1), [low, high] = wilson(observed, weight);
      bins.push({ predicted: predicted / weight, observed, weight, low, high });
    }
    return bins;
  }
}

/** The threshold that costs of two classes imply (Elkan 2001); null where no posterior makes both worth it. */
function impliedThreshold(flat, K, positive) {
  if (K !== 2) return null;
  const other = 1 - positive;
  const alarm = flat[other * 2 + positive] - flat[other * 2 + other];
  const miss = flat[positive * 2 + other] - flat[positive * 2 + positive];
  return alarm > 0 && miss > 0 ? alarm / (alarm + miss) : null;
}

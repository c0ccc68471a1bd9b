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
  if (rule === "cost") return [-Infinity, number + EQUAL_COST * Math.abs(number)];
  if (rule !== "coverage") return [-Infinity, Infinity];
  const limit = coverageLimit(rows, number, Math.max(...likelier));
  return [-Infinity, limit + ALIKE * Math.abs(limit)];
}

/**
 * All that a page shows of a setting: the confusion table (K × K actions, rejected, outliers), costs, coverage,
 * precision and recall, curves and reliability (unless nobody sees them). `odd` marks outliers, or is null.
 */
export function outcome(rows, setting, old, observed, odd, withCurves = true) {
  const decided = decide(rows, setting, old, observed), { flat, likelier, high, total } = decided;
  const { K, done } = rows, loops = loopsOver(rows), [theta, limit] = limitsOf(rows, setting, likelier);
  const { confusion, width, expected } = loops.tallied(theta, limit, theta > -Infinity && !decided.plain ? surestOf(rows) : null, odd);
  let answered = 0, spent = 0;
  for (let k = 0; k < K; k++) {
    for (let a = 0; a < K; a++) {
      answered += confusion[k * width + a];
      spent += confusion[k * width + a] * flat[k * K + a];
    }
  }
  // What every threshold would do does not depend on the one in use, nor on outliers.
  const top = high > 0 ? high : 1;
  const bins = withCurves ? new Bins(decided.byPosterior ??= loops.byPosterior(setting.positive), decided.byCost ??= loops.byCost(flat, top), top) : null;
  return {
    key: decided.key, look: setting.look, rejects: Boolean(setting.reject), confusion, width, done, answered, total, coverage: answered / total,
    cost: answered > 0 ? spent / answered : NaN,
    expected: answered > 0 ? expected / answered : NaN,
    costOfAll: (spent + (total - answered) * setting.look) / total,
    classes: byClass(confusion, K, width),
    curves: bins?.curves(setting, flat, K, total), reliability: bins?.reliability(),
  };
}

const loopsByRows = new WeakMap();

/** The loops over rows that leave sums, made once for rows. */
function loopsOver(rows) {
  if (!loopsByRows.has(rows)) loopsByRows.set(rows, loopsOf(rows));
  return loopsByRows.get(rows);
}

/** Arrays are constants of these loops, whose addresses V8 compiles in: about a quarter less time than with arrays given. */
function loopsOf({ n, K, codes, counts, risk, seen, action, done }) {
  const width = K + 2;

  /**
   * What is done with each row, the weight of rows by class and by that, and the sum of what answers are expected to cost.
   * Rejected are rows of an expected cost above `limit`, or of a largest posterior below `theta`; `surest` are these, or
   * null where they are one less the expected cost.
   */
  function tallied(theta, limit, surest, odd) {
    const confusion = new Float64Array(K * width), expected = new Float64Array(width);
    for (let i = 0; i < n; i++) {
      const w = counts[i], own = risk[i], sure = surest === null ? 1 - own : surest[i];
      let what = action[i];
      // By products instead of branches, which cost most where some rows go one way and some the other.
      what += (K - what) * ((own > limit) | (sure < theta));
      if (odd !== null) what += (K + 1 - what) * odd[i];
      done[i] = what;
      confusion[codes[i] * width + what] += w;
      expected[what] += w * own;
    }
    return { confusion, width, expected: expected.subarray(0, K).reduce((one, other) => one + other, 0) };
  }

  /**
   * Rows by posterior of the class looked at, in steps: the weight of rows of other classes and of rows of it, and
   * weight times posterior. A row of step t has a posterior above t / STEPS.
   */
  function byPosterior(positive) {
    const off = new Float64Array(STEPS + 1), on = new Float64Array(STEPS + 1), predicted = new Float64Array(STEPS + 1);
    const weights = new Float64Array(2 * (STEPS + 1)), hit = Uint8Array.from({ length: K }, (_, k) => (k === positive ? 1 : 0));
    for (let i = 0; i < n; i++) {
      const w = counts[i], p = seen[i], t = (p * STEPS - HAIR) | 0;
      weights[(t << 1) + hit[codes[i]]] += w;
      predicted[t] += w * p;
    }
    for (let t = 0; t <= STEPS; t++) [off[t], on[t]] = [weights[2 * t], weights[2 * t + 1]];
    return { off, on, predicted };
  }

  /**
   * Rows by expected cost, in steps: weight, and weight times what the answer costs. A limit of step s answers the rows
   * that cost no more than s / STEPS of the largest cost, and a limit of nothing those that cost nothing.
   */
  function byCost(flat, high) {
    const scale = STEPS / high, weight = new Float64Array(STEPS + 1), spent = new Float64Array(STEPS + 1);
    for (let i = 0; i < n; i++) {
      const w = counts[i], own = risk[i], s = own > 0 ? ((own * scale - ALIKE) | 0) + 1 : 0;
      weight[s] += w;
      spent[s] += w * flat[codes[i] * K + action[i]];
    }
    return { weight, spent };
  }

  return { tallied, byPosterior, byCost };
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
  constructor(byPosterior, byCost, high) {
    Object.assign(this, { byPosterior, byCost, high });
  }

  /** What every threshold would do: on the posterior of the class looked at, and on the cost of answering. */
  curves({ positive, look }, flat, K, total) {
    const precision = new Float64Array(STEPS + 1), recall = new Float64Array(STEPS + 1);
    const cost = K === 2 ? new Float64Array(STEPS + 1) : null, rejecting = new Float64Array(STEPS + 1);
    const coverage = new Float64Array(STEPS + 1), answeredCost = new Float64Array(STEPS + 1);
    const other = 1 - positive, { byPosterior, byCost } = this;
    let allOn = 0, allOff = 0, on = 0, off = 0, weight = 0, spent = 0;
    for (let t = 0; t <= STEPS; t++) {
      allOff += byPosterior.off[t];
      allOn += byPosterior.on[t];
    }
    for (let t = STEPS; t >= 0; t--) {
      off += byPosterior.off[t];
      on += byPosterior.on[t];
      precision[t] = on + off > 0 ? on / (on + off) : NaN;
      recall[t] = allOn > 0 ? on / allOn : NaN;
      if (cost) {
        cost[t] = (on * flat[positive * K + positive] + off * flat[other * K + positive]
          + (allOn - on) * flat[positive * K + other] + (allOff - off) * flat[other * K + other]) / total;
      }
    }
    for (let s = 0; s <= STEPS; s++) {
      weight += byCost.weight[s];
      spent += byCost.spent[s];
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
        missed += this.byPosterior.off[t];
        came += this.byPosterior.on[t];
        predicted += this.byPosterior.predicted[t];
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

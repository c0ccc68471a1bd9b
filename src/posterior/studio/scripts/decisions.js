// What a setting does to rows held out. Rows are typed arrays, read once; a setting is worked out in one pass
// over them, without sorting and without an exponential: p(k | row) under other priors is p_k π'_k / π_k, rescaled.
import { wilson } from "./maths.js";

export const BINS = 10; // of the reliability diagram
export const STEPS = 200; // of the curves
const CLOSE = 1e-9, SAME = 1e-14, EQUAL_COST = 1e-15, ALIKE = 1e-12;

/** Bytes of a base64 text as an array of numbers, little-endian as they were written. */
export function unpacked(text, Kind) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Kind(bytes.buffer);
}

/** The rows of a page: posteriors (n × K), classes, weights. */
export function readRows(data) {
  const { n, logs, codes, weight } = data.rows, K = data.classes.length;
  const steps = unpacked(logs, Int16Array), posterior = new Float64Array(n * K);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let k = 0; k < K; k++) {
      const step = steps[i * K + k];
      sum += posterior[i * K + k] = step === -32768 ? 0 : Math.exp(step / 1000);
    }
    for (let k = 0; k < K; k++) posterior[i * K + k] /= sum;
  }
  return {
    n, K, posterior, codes: unpacked(codes, Uint16Array),
    weight: weight ? unpacked(weight, Float64Array) : new Float64Array(n).fill(1),
    // What one pass leaves: posteriors under the priors in use, weights, expected costs, actions.
    moved: new Float64Array(n * K), counts: new Float64Array(n), risk: new Float64Array(n),
    action: new Uint16Array(n), done: new Uint16Array(n), decided: null,
  };
}

/** Costs as one flat array, and whether they are zero-one. */
function flatCosts(costs) {
  const K = costs.length, flat = new Float64Array(K * K);
  let plain = true;
  for (let k = 0; k < K; k++) {
    for (let a = 0; a < K; a++) {
      flat[k * K + a] = costs[k][a];
      plain = plain && costs[k][a] === (k === a ? 0 : 1);
    }
  }
  return { flat, plain };
}

/**
 * Posteriors, weights and cheapest actions under a setting; left in the arrays of `rows`, and worked out again only
 * where class frequencies or costs have changed.
 */
export function decide(rows, setting, old, observed) {
  const key = `${setting.priors}|${setting.costs}`;
  if (rows.decided?.key === key) return rows.decided;
  const { n, K, posterior, codes, weight, moved, counts, risk, action } = rows;
  const { flat, plain } = flatCosts(setting.costs), { priors } = setting;
  const ratio = new Float64Array(K).fill(1), likelier = new Float64Array(K).fill(1);
  if (priors) {
    for (let k = 0; k < K; k++) {
      ratio[k] = old[k] > 0 ? priors[k] / old[k] : 0;
      likelier[k] = observed[k] > 0 ? priors[k] / observed[k] : 0;
    }
  } else moved.set(posterior);
  let high = 0, total = 0, size = 0;
  for (let i = 0; i < n; i++) total += counts[i] = weight[i] * likelier[codes[i]];
  for (let j = 0; j < K * K; j++) size = Math.max(size, Math.abs(flat[j]));
  const unsure = CLOSE * size;
  for (let i = 0, at = 0; i < n; i++, at += K) {
    let least = Infinity, second = Infinity, best = 0;
    if (priors) {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += moved[at + k] = posterior[at + k] * ratio[k];
      const scale = 1 / sum;
      if (sum > 0) for (let k = 0; k < K; k++) moved[at + k] *= scale;
      else for (let k = 0; k < K; k++) moved[at + k] = priors[k];
    }
    if (plain) {
      let top = moved[at], others = 0;
      for (let k = 1; k < K; k++) {
        const p = moved[at + k];
        if (p > top) { others += top; top = p; best = k; } else others += p;
      }
      least = others;
    } else {
      for (let a = 0; a < K; a++) {
        let cost = 0;
        for (let k = 0, cell = a; k < K; k++, cell += K) cost += moved[at + k] * flat[cell];
        if (cost < least) { second = least; least = cost; best = a; } else if (cost < second) second = cost;
      }
      if (!(second - least > unsure)) best = firstOfEquals(moved, at, flat, K);
    }
    action[i] = best;
    risk[i] = least;
    if (least > high) high = least;
  }
  rows.decided = { key, flat, likelier, high, total };
  return rows.decided;
}

/** The cheapest action where rounding could decide: actions compared in pairs, relative to the likeliest class. */
function firstOfEquals(moved, at, flat, K) {
  let best = 0;
  for (let a = 1; a < K; a++) {
    let top = 0, total = 0, size = 0;
    for (let k = 0; k < K; k++) if (flat[k * K + a] !== flat[k * K + best]) top = Math.max(top, moved[at + k]);
    if (!(top > 0)) continue;
    for (let k = 0; k < K; k++) {
      const term = (moved[at + k] / top) * (flat[k * K + a] - flat[k * K + best]);
      total += term;
      size += Math.abs(term);
    }
    if (total < -SAME * size) best = a;
  }
  return best;
}

/**
 * The largest expected cost that is answered so that a new row is with this probability at least: the weighted
 * quantile of the risks, found in bins of which one is sorted (Vovk, Gammerman & Shafer 2005).
 */
export function coverageLimit(rows, share, ownWeight) {
  const { n, risk, counts } = rows, bins = 1024;
  const { total, high } = rows.decided;
  let low = Infinity;
  for (let i = 0; i < n; i++) if (risk[i] < low) low = risk[i];
  // Shares have six decimals at most, and whole numbers of rows: the product is exact.
  const needed = Math.round(share * 1e6) * (total + ownWeight) / 1e6;
  if (needed > total) return Infinity;
  const sums = new Float64Array(bins), scale = high > low ? bins / (high - low) : 0;
  const binOf = value => Math.min(bins - 1, Math.floor((value - low) * scale));
  for (let i = 0; i < n; i++) sums[binOf(risk[i])] += counts[i];
  let bin = 0, below = 0;
  while (bin < bins - 1 && below + sums[bin] < needed) below += sums[bin++];
  const inside = [];
  for (let i = 0; i < n; i++) if (binOf(risk[i]) === bin) inside.push(i);
  inside.sort((a, b) => risk[a] - risk[b]);
  for (const i of inside) {
    below += counts[i];
    if (below >= needed) return risk[i];
  }
  return inside.length ? risk[inside[inside.length - 1]] : Infinity;
}

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
 * precision and recall, curves and reliability. `odd` marks outliers, or is null.
 */
export function outcome(rows, setting, old, observed, odd) {
  const { flat, likelier, high, total } = decide(rows, setting, old, observed);
  const { n, K, codes, counts, risk, action, moved, done } = rows, { positive } = setting;
  const [theta, limit] = limitsOf(rows, setting, likelier), width = K + 2;
  const confusion = new Float64Array(K * width), bins = new Bins(), top = high > 0 ? high : 1, scale = STEPS / top;
  const { on, off, answered: byRisk, spent: costs, weight: weights, predicted, happened } = bins;
  let answered = 0, spent = 0, expected = 0;
  for (let i = 0, at = 0; i < n; i++, at += K) {
    const truth = codes[i], w = counts[i], own = risk[i], said = action[i], p = moved[at + positive];
    let what = said;
    if (own > limit) what = K;
    else if (theta > 0) {
      what = K;
      for (let k = 0; k < K; k++) if (moved[at + k] >= theta) { what = said; break; }
    }
    if (odd !== null && odd[i]) what = K + 1;
    done[i] = what;
    confusion[truth * width + what] += w;
    const price = w * flat[truth * K + said];
    if (what < K) {
      answered += w;
      spent += price;
      expected += w * own;
    }
    // What every threshold would do: rows by the posterior of the class looked at, which must be above it, and by
    // expected cost. A limit of step s answers the rows that cost no more than s / STEPS of the largest.
    const above = p > 0 ? Math.ceil(p * STEPS) - 1 : 0;
    if (truth === positive) on[above] += w;
    else off[above] += w;
    const step = own > 0 ? Math.ceil(own * scale - 1e-12) : 0;
    byRisk[step] += w;
    costs[step] += price;
    // Each bin of the reliability diagram has its right end.
    let bin = Math.floor(p * BINS);
    if (bin === BINS || (bin > 0 && p <= bin * 0.1)) bin--;
    else if (bin < BINS - 1 && p > (bin + 1) * 0.1) bin++;
    weights[bin] += w;
    predicted[bin] += w * p;
    if (truth === positive) happened[bin] += w;
  }
  return {
    confusion, width, done, answered, total, coverage: answered / total,
    cost: answered > 0 ? spent / answered : NaN,
    expected: answered > 0 ? expected / answered : NaN,
    costOfAll: (spent + (total - answered) * setting.look) / total,
    classes: byClass(confusion, K, width),
    curves: bins.curves(setting, flat, K, total, top), reliability: bins.reliability(),
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
  constructor() {
    this.on = new Float64Array(STEPS + 1); // weight of rows of the class looked at, by posterior
    this.off = new Float64Array(STEPS + 1); // and of the others
    this.answered = new Float64Array(STEPS + 1); // weight and cost of rows, by expected cost
    this.spent = new Float64Array(STEPS + 1);
    this.weight = new Float64Array(BINS); // weight, posterior and what came true, in bins of equal width
    this.predicted = new Float64Array(BINS);
    this.happened = new Float64Array(BINS);
  }

  /** What every threshold would do: on the posterior of the class looked at, and on the cost of answering. */
  curves({ positive, look }, flat, K, total, high) {
    const precision = new Float64Array(STEPS + 1), recall = new Float64Array(STEPS + 1);
    const cost = K === 2 ? new Float64Array(STEPS + 1) : null, rejecting = new Float64Array(STEPS + 1);
    const coverage = new Float64Array(STEPS + 1), answeredCost = new Float64Array(STEPS + 1);
    const other = 1 - positive, sum = values => values.reduce((a, b) => a + b, 0);
    const allOn = sum(this.on), allOff = sum(this.off);
    let on = 0, off = 0, weight = 0, spent = 0;
    for (let t = STEPS; t >= 0; t--) {
      on += this.on[t];
      off += this.off[t];
      precision[t] = on + off > 0 ? on / (on + off) : NaN;
      recall[t] = allOn > 0 ? on / allOn : NaN;
      if (cost) {
        cost[t] = (on * flat[positive * K + positive] + off * flat[other * K + positive]
          + (allOn - on) * flat[positive * K + other] + (allOff - off) * flat[other * K + other]) / total;
      }
    }
    for (let s = 0; s <= STEPS; s++) {
      weight += this.answered[s];
      spent += this.spent[s];
      coverage[s] = weight / total;
      answeredCost[s] = weight > 0 ? spent / weight : NaN;
      rejecting[s] = (spent + (total - weight) * look) / total;
    }
    return { precision, recall, cost, rejecting, coverage, answeredCost, high, bayes: impliedThreshold(flat, K, positive) };
  }

  /** Predicted probabilities of a class against how often it came true, in ten bins of equal width. */
  reliability() {
    const bins = [];
    for (let b = 0; b < BINS; b++) {
      const weight = this.weight[b];
      if (!(weight > 0)) continue;
      const observed = Math.min(this.happened[b] / weight, 1), [low, high] = wilson(observed, weight);
      bins.push({ predicted: this.predicted[b] / weight, observed, weight, low, high });
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

// Which rows are like nothing seen in training, at a rate of false alarms: conformal p-values of log densities
// under the class frequencies in use (Vovk, Gammerman & Shafer 2005; Tibshirani et al. 2019 for the weights).
import { unpacked } from "./decisions.js";
import { logSumExp } from "./maths.js";
import { keptWhileDragged, noDrag } from "./oneshare.js";

const ROUNDED = 1e-9; // more than rounding does
const TINY = 1e-280; // smaller sums may have lost digits
const factor = log => (Math.abs(log) < 300 ? Math.exp(log) : NaN); // not a number where a product could leave the range of numbers

/** Log densities of rows by class, relative to the largest, so that other priors cost one logarithm a row. */
export function readOutliers(data) {
  const given = data.outliers, K = data.classes.length, n = data.rows.n;
  if (given.why) return null;
  const steps = unpacked(given.logs, Int32Array), top = new Float64Array(n), share = new Float64Array(n * K);
  for (let i = 0; i < n; i++) {
    let best = -2147483648;
    for (let k = 0; k < K; k++) if (steps[i * K + k] > best) best = steps[i * K + k];
    top[i] = best === -2147483648 ? -Infinity : best / 1000;
    for (let k = 0; k < K; k++) {
      const step = steps[i * K + k];
      share[i * K + k] = step === -2147483648 ? 0 : Math.exp((step - best) / 1000);
    }
  }
  // By how much each row is below the highest, as a factor.
  const height = top.reduce((one, other) => Math.max(one, other), -Infinity), below = top.map(each => factor(height - each));
  const logs = given.calibration.logs.map(row => row.map(value => (value === "-inf" ? -Infinity : value)));
  const tops = logs.map(row => Math.max(...row)), shares = logs.map((row, j) => row.map(log => (tops[j] > -Infinity ? Math.exp(log - tops[j]) : 0)));
  return { n, K, top, height, below, share, logPrior: given.logPrior.map(value => (value === "-inf" ? -Infinity : value)),
    calibration: { ...given.calibration, logs, tops, shares: Float64Array.from(shares.flat()), order: logs.map((_, j) => j) }, odd: new Uint8Array(n), found: "", threshold: -Infinity, sorted: null,
    sums: new Float64Array(n), summed: null, drag: noDrag() };
}

/** Calibration rows in the order of their log densities, with their weights, under some priors; kept until those change. */
function sortedCalibration(outliers, priors) {
  const key = String(priors ?? "");
  if (outliers.sorted?.key === key) return outliers.sorted;
  const { calibration, logPrior, K } = outliers, { count, codes, weight, tops, shares, order } = calibration;
  const total = count.reduce((a, b) => a + b, 0);
  const logs = priors ? priors.map(Math.log) : logPrior, prior = priors ?? logPrior.map(Math.exp), ratio = new Float64Array(K).fill(1);
  let own = 1;
  if (priors) {
    for (let k = 0; k < K; k++) ratio[k] = count[k] > 0 ? priors[k] * total / count[k] : 0;
    own = Math.max(...ratio);
  }
  const score = Float64Array.from(tops, (top, j) => {
    let sum = 0;
    for (let k = 0; k < K; k++) sum += shares[j * K + k] * prior[k];
    return sum > TINY ? top + Math.log(sum) : logSumExp(calibration.logs[j].map((log, k) => log + logs[k]));
  });
  order.sort((a, b) => score[a] - score[b]); // from the order before, which is nearly right while a frequency is dragged
  const weights = Float64Array.from(order, i => weight[i] * ratio[codes[i]]);
  outliers.sorted = { key, own, scores: Float64Array.from(order, i => score[i]), weights, all: weights.reduce((a, b) => a + b, 0) + own };
  return outliers.sorted;
}

/** The log density below which rows are outliers at this rate; −∞ where too few calibration rows tell. */
export function outlierThreshold(outliers, rate, priors) {
  const { own, scores, weights, all } = sortedCalibration(outliers, priors);
  if (own / all > rate) return -Infinity;
  let below = own;
  for (let i = 0; i < scores.length;) {
    const score = scores[i];
    for (; i < scores.length && scores[i] === score; i++) below += weights[i];
    if (below / all > rate) return score;
  }
  return Infinity;
}

/** Σ of a row's densities times priors, relative to the largest density, of every row; worked out again where priors have changed. */
function sumsUnder(outliers, priors) {
  const { n, K, share, sums, logPrior, drag } = outliers, key = String(priors ?? "");
  if (outliers.summed === key) return sums;
  outliers.summed = key;
  const prior = priors ?? logPrior.map(Math.exp);
  const summed = (into, but) => {
    for (let i = 0, at = 0; i < n; i++) {
      let sum = 0;
      for (let k = 0; k < K; k++, at++) if (k !== but) sum += share[at] * prior[k];
      into[i] = sum;
    }
    return into;
  };
  const kept = keptWhileDragged(drag, priors, null, k => ({ others: summed(new Float64Array(n), k), own: sums.map((_, i) => share[i * K + k]) }));
  if (!kept) return summed(sums, -1);
  const { others, own, factor: since } = kept, p = prior[kept.k];
  for (let i = 0; i < n; i++) sums[i] = others[i] * since + own[i] * p;
  return sums;
}

/** Marks of the rows that are outliers, worked out again only where rate or priors have changed; null where off. */
export function oddRows(outliers, rate, priors) {
  if (!outliers || !rate) return null;
  const key = `${rate}|${priors ?? ""}`;
  if (outliers.found === key) return outliers.odd;
  const { n, top, height, below, odd } = outliers, threshold = outlierThreshold(outliers, rate, priors), sums = sumsUnder(outliers, priors);
  // A row is an outlier where top + ln Σ is below the threshold, which is to say Σ below e^(threshold − top): a product,
  // and no logarithm but where rounding could decide.
  const limit = factor(threshold - height);
  for (let i = 0; i < n; i++) {
    const sum = sums[i], least = limit * below[i];
    odd[i] = Math.abs(sum - least) > ROUNDED * least ? sum < least : top[i] + Math.log(sum) < threshold;
  }
  outliers.found = key;
  outliers.threshold = threshold;
  return odd;
}

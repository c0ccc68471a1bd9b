// Which rows are like nothing seen in training, at a rate of false alarms: conformal p-values of log densities
// under the class frequencies in use (Vovk, Gammerman & Shafer 2005; Tibshirani et al. 2019 for the weights).
import { unpacked } from "./decisions.js";
import { logSumExp } from "./maths.js";

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
  const logs = given.calibration.logs.map(row => row.map(value => (value === "-inf" ? -Infinity : value)));
  return { n, K, top, share, logPrior: given.logPrior.map(value => (value === "-inf" ? -Infinity : value)),
    calibration: { ...given.calibration, logs }, odd: new Uint8Array(n), found: "", threshold: -Infinity, sorted: null };
}

/** Calibration rows in the order of their log densities, with their weights, under some priors; kept until those change. */
function sortedCalibration(outliers, priors) {
  const key = String(priors ?? "");
  if (outliers.sorted?.key === key) return outliers.sorted;
  const { calibration, logPrior, K } = outliers, { count, codes, weight } = calibration;
  const total = count.reduce((a, b) => a + b, 0);
  const logs = priors ? priors.map(Math.log) : logPrior, ratio = new Float64Array(K).fill(1), joint = new Float64Array(K);
  let own = 1;
  if (priors) {
    for (let k = 0; k < K; k++) ratio[k] = count[k] > 0 ? priors[k] * total / count[k] : 0;
    own = Math.max(...ratio);
  }
  const score = Float64Array.from(calibration.logs, row => {
    for (let k = 0; k < K; k++) joint[k] = row[k] + logs[k];
    return logSumExp(joint);
  });
  const order = Int32Array.from(score, (_, i) => i).sort((a, b) => score[a] - score[b]);
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

/** Marks of the rows that are outliers, worked out again only where rate or priors have changed; null where off. */
export function oddRows(outliers, rate, priors) {
  if (!outliers || !rate) return null;
  const key = `${rate}|${priors ?? ""}`;
  if (outliers.found === key) return outliers.odd;
  const { n, K, top, share, odd, logPrior } = outliers;
  const threshold = outlierThreshold(outliers, rate, priors);
  const prior = priors ?? logPrior.map(Math.exp);
  // ln Σ is at most 0, and no less than the log of the smallest prior: most rows need no more than that.
  const least = Math.log(Math.min(...prior)), sure = threshold - least;
  for (let i = 0; i < n; i++) {
    if (top[i] >= sure) { odd[i] = 0; continue; }
    if (top[i] < threshold) { odd[i] = 1; continue; }
    let sum = 0;
    for (let k = 0; k < K; k++) sum += share[i * K + k] * prior[k];
    odd[i] = top[i] + Math.log(sum) < threshold ? 1 : 0;
  }
  outliers.found = key;
  outliers.threshold = threshold;
  return odd;
}

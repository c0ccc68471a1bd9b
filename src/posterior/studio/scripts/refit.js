// Models fitted in the page to points with a class: LDA, QDA and naive Bayes from sums, logistic and softmax
// regression by Newton's method. Priors and covariances are those of maximum likelihood (divided by N).
import { dot, sigmoid, softmax, solve } from "./maths.js";

/** Points by class: how many, their mean, and the sums of products about it. */
function summarized(points, K) {
  const sums = Array.from({ length: K }, () => ({ n: 0, mean: [0, 0], scatter: [[0, 0], [0, 0]] }));
  for (const { x, k } of points) {
    sums[k].n += 1;
    for (let j = 0; j < 2; j++) sums[k].mean[j] += x[j];
  }
  for (const each of sums) each.mean = each.mean.map(sum => (each.n ? sum / each.n : 0));
  for (const { x, k } of points) {
    const z = x.map((value, j) => value - sums[k].mean[j]);
    for (let i = 0; i < 2; i++) for (let j = 0; j < 2; j++) sums[k].scatter[i][j] += z[i] * z[j];
  }
  return sums;
}

const shaped = (scatter, n, keep) => scatter.map((row, i) => row.map((value, j) => (keep || i === j ? value / n : 0)));

/** Gaussian classes of points: "lda", "qda" or "naive"; null where a class has too few points for it. */
export function fitGaussians(points, K, kind) {
  const sums = summarized(points, K), total = points.length;
  if (sums.some(each => each.n < (kind === "lda" ? 1 : kind === "qda" ? 3 : 2)) || total < K + 2) return null;
  const within = [[0, 0], [0, 0]];
  for (const { scatter } of sums) for (let i = 0; i < 2; i++) for (let j = 0; j < 2; j++) within[i][j] += scatter[i][j];
  return sums.map(({ n, mean, scatter }) => ({
    mean, prior: n / total, cost: 1,
    covariance: kind === "lda" ? shaped(within, total, true) : shaped(scatter, n, kind === "qda"),
  }));
}

/**
 * Logistic regression, ½ |w|² + C Σ loss with an intercept that is not penalised, by Newton's method with halved
 * steps: one score for two classes, one for each class of more. Gives coefficients and intercepts.
 */
export function fitLogistic(points, K, C = 1) {
  return K === 2 ? fitTwo(points, C) : fitMany(points, K, C);
}

function fitTwo(points, C) {
  let theta = [0, 0, 0];
  const value = t => 0.5 * (t[0] ** 2 + t[1] ** 2) + C * points.reduce((sum, { x, k }) => {
    const score = t[0] * x[0] + t[1] * x[1] + t[2], margin = k ? score : -score;
    return sum + Math.max(-margin, 0) + Math.log1p(Math.exp(-Math.abs(margin)));
  }, 0);
  theta = newton(theta, value, t => {
    const g = [t[0], t[1], 0], H = [[1, 0, 0], [0, 1, 0], [0, 0, 1e-12]];
    for (const { x, k } of points) {
      const row = [x[0], x[1], 1], p = sigmoid(dot(t, row));
      for (let i = 0; i < 3; i++) {
        g[i] += C * (p - k) * row[i];
        for (let j = 0; j < 3; j++) H[i][j] += C * p * (1 - p) * row[i] * row[j];
      }
    }
    return { g, H };
  });
  return { coef: [[0, 0], [theta[0], theta[1]]], intercept: [0, theta[2]] };
}

function fitMany(points, K, C) {
  const size = 3 * K, at = (k, j) => 3 * k + j;
  const scores = (t, x) => Array.from({ length: K }, (_, k) => t[at(k, 0)] * x[0] + t[at(k, 1)] * x[1] + t[at(k, 2)]);
  const value = t => {
    let sum = 0, intercepts = 0;
    for (let k = 0; k < K; k++) { sum += 0.5 * (t[at(k, 0)] ** 2 + t[at(k, 1)] ** 2); intercepts += t[at(k, 2)]; }
    for (const { x, k } of points) sum -= C * Math.log(softmax(scores(t, x))[k]);
    return sum + 0.5 * intercepts ** 2;
  };
  const theta = newton(new Array(size).fill(0), value, t => {
    const g = new Array(size).fill(0), H = Array.from({ length: size }, () => new Array(size).fill(0));
    let intercepts = 0;
    for (let k = 0; k < K; k++) intercepts += t[at(k, 2)];
    for (let k = 0; k < K; k++) {
      for (const j of [0, 1]) { g[at(k, j)] += t[at(k, j)]; H[at(k, j)][at(k, j)] += 1; }
      // Intercepts are known up to a number that all share; this takes those that sum to zero.
      g[at(k, 2)] += intercepts;
      for (let m = 0; m < K; m++) H[at(k, 2)][at(m, 2)] += 1;
    }
    for (const { x, k: truth } of points) {
      const row = [x[0], x[1], 1], p = softmax(scores(t, x));
      for (let k = 0; k < K; k++) {
        for (let j = 0; j < 3; j++) g[at(k, j)] += C * (p[k] - (k === truth ? 1 : 0)) * row[j];
        for (let m = 0; m < K; m++) {
          const w = C * p[k] * ((k === m ? 1 : 0) - p[m]);
          for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) H[at(k, i)][at(m, j)] += w * row[i] * row[j];
        }
      }
    }
    return { g, H };
  });
  const by = k => [theta[at(k, 0)], theta[at(k, 1)]];
  return { coef: Array.from({ length: K }, (_, k) => by(k)), intercept: Array.from({ length: K }, (_, k) => theta[at(k, 2)]) };
}

/** Newton's method: full steps, halved while they lead uphill, until nothing is left to gain. */
export function newton(start, value, slopes, most = 100) {
  let theta = start.slice(), now = value(theta);
  for (let step = 0; step < most; step++) {
    const { g, H } = slopes(theta), move = solve(H, g);
    if (!move) break;
    let size = 1, next, then;
    do {
      next = theta.map((t, i) => t - size * move[i]);
      then = value(next);
      size /= 2;
    } while (!(then <= now) && size > 1e-10);
    if (!(then <= now)) break;
    const gain = now - then;
    theta = next;
    now = then;
    if (gain <= 1e-15 * (1 + Math.abs(now)) && Math.max(...g.map(Math.abs)) < 1e-10) break;
  }
  return theta;
}

/** Linear scores as forms {A, b, a}, as boundaries and shading take them. */
export function linearForms({ coef, intercept }) {
  return coef.map((w, k) => ({ A: [[0, 0], [0, 0]], b: w, a: intercept[k] }));
}

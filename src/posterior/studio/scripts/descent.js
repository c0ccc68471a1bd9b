// Logistic regression of one feature, in the plane of intercept and slope: the mean log loss of rows, its gradient and
// curvature, and the paths that gradient descent and Newton's method take over it.
import { sigmoid, solve } from "./maths.js";

/** Mean log loss of intercept and slope, without overflow. */
export function meanLoss(rows, [b, w]) {
  let sum = 0;
  for (const [x, y] of rows) {
    const margin = y ? b + w * x : -(b + w * x);
    sum += Math.max(-margin, 0) + Math.log1p(Math.exp(-Math.abs(margin)));
  }
  return sum / rows.length;
}

/** Its gradient and its matrix of second derivatives. */
export function slopesAt(rows, [b, w]) {
  const g = [0, 0], H = [[0, 0], [0, 0]], n = rows.length;
  for (const [x, y] of rows) {
    const p = sigmoid(b + w * x), r = p * (1 - p);
    g[0] += (p - y) / n;
    g[1] += (p - y) * x / n;
    H[0][0] += r / n;
    H[0][1] += r * x / n;
    H[1][1] += r * x * x / n;
  }
  H[1][0] = H[0][1];
  return { g, H };
}

/** w ← w − η g: the points that so many steps visit, ended where they leave for good. */
export function descentPath(rows, start, rate, steps) {
  const path = [start.slice()];
  for (let t = 0; t < steps; t++) {
    const at = path[path.length - 1], { g } = slopesAt(rows, at);
    const next = at.map((value, i) => value - rate * g[i]);
    path.push(next);
    if (!next.every(value => Math.abs(value) < 1e6)) break;
  }
  return path;
}

/** w ← w − H⁻¹ g: Newton's path, whole steps, until it stands still. */
export function newtonPath(rows, start, steps = 30) {
  const path = [start.slice()];
  for (let t = 0; t < steps; t++) {
    const at = path[path.length - 1], { g, H } = slopesAt(rows, at), move = solve(H, g);
    if (!move) break;
    const next = at.map((value, i) => value - move[i]);
    if (!next.every(value => Math.abs(value) < 1e6)) break;
    path.push(next);
    if (Math.hypot(...move) < 1e-12) break;
  }
  return path;
}

/** The largest curvature at a point: rates beyond two over that of the bottom do not settle there. */
export function largestCurvature(H) {
  const middle = (H[0][0] + H[1][1]) / 2;
  return middle + Math.hypot((H[0][0] - H[1][1]) / 2, H[0][1]);
}

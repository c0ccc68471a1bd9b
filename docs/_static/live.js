// The maths that the studio and the moving pictures share. No module of this folder works out a posterior,
// a factor of a covariance or an interval in another way; tests compare all of it with the Python library.

const LOG_2PI = Math.log(2 * Math.PI);

/** ln Σ exp(x), without overflow; −∞ of nothing but impossible things. */
function logSumExp(values) {
  let top = -Infinity, sum = 0;
  for (const value of values) if (value > top) top = value;
  if (top === -Infinity) return top;
  for (const value of values) sum += Math.exp(value - top);
  return top + Math.log(sum);
}

/** Scores less their ln Σ exp, as an array: log posteriors. Small ones keep their digits by ln(1 + x). */
function logSoftmax(scores) {
  let best = 0;
  for (let k = 1; k < scores.length; k++) if (scores[k] > scores[best]) best = k;
  let others = 0;
  for (let k = 0; k < scores.length; k++) if (k !== best) others += Math.exp(scores[k] - scores[best]);
  const rest = Math.log1p(others);
  return Array.from(scores, score => score - scores[best] - rest);
}

/** Probabilities in proportion to the exponentials of scores. */
function softmax(scores) {
  return logSoftmax(scores).map(Math.exp);
}

/** 1 / (1 + exp(−x)), exact in both tails. */
function sigmoid(x) {
  if (x >= 0) return 1 / (1 + Math.exp(-x));
  const e = Math.exp(x);
  return e / (1 + e);
}

/** Wilson's (1927) interval of a share of so many rows, at 95 %. */
function wilson(share, weight) {
  const z = 1.959963984540054;
  const middle = share + z * z / (2 * weight);
  const spread = z * Math.sqrt(share * (1 - share) / weight + z * z / (4 * weight * weight));
  const scale = 1 + z * z / weight;
  return [share === 0 ? 0 : Math.max((middle - spread) / scale, 0), share === 1 ? 1 : Math.min((middle + spread) / scale, 1)];
}

// -- matrices, as arrays of rows ---------------------------------------------------------------------

/** The lower factor L of a symmetric positive definite matrix, A = L L'; null where it is not definite. */
function cholesky(A) {
  const n = A.length, L = A.map(() => new Float64Array(n));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = A[i][j];
      for (let m = 0; m < j; m++) sum -= L[i][m] * L[j][m];
      if (i !== j) L[i][j] = sum / L[j][j];
      else if (sum > 0) L[i][i] = Math.sqrt(sum);
      else return null;
    }
  }
  return L;
}

/** Solve L w = b for the lower factor of a matrix. */
function forwardSolve(L, b) {
  const w = new Float64Array(b.length);
  for (let i = 0; i < b.length; i++) {
    let sum = b[i];
    for (let j = 0; j < i; j++) sum -= L[i][j] * w[j];
    w[i] = sum / L[i][i];
  }
  return w;
}

/** Solve A x = b by the lower factor of A. */
function factorSolve(L, b) {
  const x = forwardSolve(L, b);
  for (let i = b.length - 1; i >= 0; i--) {
    let sum = x[i];
    for (let j = i + 1; j < b.length; j++) sum -= L[j][i] * x[j];
    x[i] = sum / L[i][i];
  }
  return x;
}

/** ln |A| from the lower factor of A. */
function logDeterminant(L) {
  let sum = 0;
  for (let i = 0; i < L.length; i++) sum += Math.log(L[i][i]);
  return 2 * sum;
}

/** Solve a small general system by Gaussian elimination with row exchanges; null where there is no answer. */
function solve(A, b) {
  const n = b.length, rows = A.map((row, i) => [...row, b[i]]);
  for (let j = 0; j < n; j++) {
    let pivot = j;
    for (let i = j + 1; i < n; i++) if (Math.abs(rows[i][j]) > Math.abs(rows[pivot][j])) pivot = i;
    if (!rows[pivot][j]) return null;
    [rows[j], rows[pivot]] = [rows[pivot], rows[j]];
    for (let i = j + 1; i < n; i++) {
      const share = rows[i][j] / rows[j][j];
      for (let m = j; m <= n; m++) rows[i][m] -= share * rows[j][m];
    }
  }
  const x = new Array(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    let sum = rows[i][n];
    for (let m = i + 1; m < n; m++) sum -= rows[i][m] * x[m];
    x[i] = sum / rows[i][i];
  }
  return x;
}

/** Σ a_i b_i. */
function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

// Gaussian classes in the plane: log joints, posteriors, and the exact boundary of every two classes, a conic.

/** A class: mean, covariance, prior, and what a mistake costs where it is the truth. */
function gaussianClass(mean, covariance, prior = 1, cost = 1) {
  return { mean, covariance, prior, cost };
}

/** Covariance of a main axis of length a in a direction, and another of length b across it. */
function covarianceOf(a, b, angle) {
  const c = Math.cos(angle), s = Math.sin(angle), p = a * a, q = b * b;
  return [[p * c * c + q * s * s, (p - q) * c * s], [(p - q) * c * s, p * s * s + q * c * c]];
}

/** Lengths of the axes of a covariance, the longer first, and the direction of that. */
function axesOf([[p, r], [, q]]) {
  const middle = (p + q) / 2, spread = Math.hypot((p - q) / 2, r);
  return { a: Math.sqrt(middle + spread), b: Math.sqrt(Math.max(middle - spread, 0)), angle: 0.5 * Math.atan2(2 * r, p - q) };
}

/** x ↦ ln p(x, class) as a quadratic form x'Ax + b·x + a about the origin, {A, b, a}. */
function quadraticOf({ mean, covariance, prior }) {
  const L = cholesky(covariance), n = mean.length;
  const inverse = mean.map((_, j) => Array.from(factorSolve(L, mean.map((_, i) => (i === j ? 1 : 0)))));
  const b = Array.from(factorSolve(L, mean));
  return {
    A: inverse.map(row => row.map(value => -0.5 * value)), b,
    a: -0.5 * (dot(mean, b) + logDeterminant(L) + n * LOG_2PI) + Math.log(prior),
  };
}

/** The value of a quadratic form. */
function valueAt({ A, b, a }, x) {
  let sum = a;
  for (let i = 0; i < x.length; i++) {
    let row = b[i];
    for (let j = 0; j < x.length; j++) row += A[i][j] * x[j];
    sum += row * x[i];
  }
  return sum;
}

/** Posteriors at a point. */
function posteriorAt(forms, x) {
  return logSoftmax(forms.map(form => valueAt(form, x))).map(Math.exp);
}

/**
 * The boundary between two classes under costs of mistakes: where ln p(x, 1) c₁ = ln p(x, 2) c₂. What is left of
 * equal covariances is rounding, and is taken off, so that a line is a line.
 */
function boundaryForm(one, other) {
  const f = quadraticOf(one), g = quadraticOf(other);
  const A = f.A.map((row, i) => row.map((value, j) => value - g.A[i][j]));
  const size = Math.max(...f.A.flat().map(Math.abs), ...g.A.flat().map(Math.abs));
  const straight = A.flat().every(value => Math.abs(value) <= 1e-12 * size);
  return { A: straight ? A.map(row => row.map(() => 0)) : A, b: f.b.map((value, j) => value - g.b[j]), a: f.a - g.a + Math.log(one.cost / other.cost) };
}

/** What the zeros of a form are: line, ellipse, parabola, hyperbola, crossing or parallel lines, a point, empty. */
function conicType({ A, b, a }) {
  const [[p, r], [, q]] = A, middle = (p + q) / 2, spread = Math.hypot((p - q) / 2, r);
  const values = [middle - spread, middle + spread], angle = 0.5 * Math.atan2(2 * r, p - q);
  const along = [[-Math.sin(angle), Math.cos(angle)], [Math.cos(angle), Math.sin(angle)]].map(v => dot(v, b));
  const size = Math.max(...values.map(Math.abs), ...along.map(Math.abs));
  const curved = values.map(value => Math.abs(value) > 1e-9 * size);
  const tilted = along.some((value, i) => !curved[i] && Math.abs(value) > 1e-9 * size);
  const drops = along.map((value, i) => (curved[i] ? value * value / (4 * values[i]) : 0));
  const level = a - drops[0] - drops[1], terms = Math.max(size, Math.abs(a), ...drops.map(Math.abs));
  let sign = Math.abs(level) <= 1e-9 * terms ? 0 : Math.sign(level);
  let positive = values.filter((value, i) => curved[i] && value > 0).length;
  let negative = values.filter((value, i) => curved[i] && value < 0).length;
  if (negative > positive) [positive, negative, sign] = [negative, positive, -sign];
  if (!positive) return tilted ? "line" : sign ? "empty" : "everywhere";
  if (tilted) return "parabola";
  if (negative) return sign ? "hyperbola" : "crossing lines";
  if (positive === 1) return ["parallel lines", "coincident lines", "empty"][sign + 1];
  return ["ellipse", "point", "empty"][sign + 1];
}

/** Where a form is zero between two points, as shares of the way; a form along a line is a quadratic. */
function zerosBetween(form, from, to) {
  const step = to.map((value, i) => value - from[i]), at0 = valueAt(form, from);
  let A = 0, b = 0;
  for (let i = 0; i < 2; i++) {
    b += form.b[i] * step[i];
    for (let j = 0; j < 2; j++) {
      A += form.A[i][j] * step[i] * step[j];
      b += form.A[i][j] * (step[i] * from[j] + from[i] * step[j]);
    }
  }
  let roots = [];
  if (A === 0) roots = b === 0 ? [] : [-at0 / b];
  else {
    const disc = b * b - 4 * A * at0;
    if (disc >= 0) {
      const larger = b >= 0 ? -(b + Math.sqrt(disc)) / 2 : -(b - Math.sqrt(disc)) / 2;
      roots = larger === 0 ? [0] : [larger / A, at0 / larger];
    }
  }
  return roots.filter(t => t >= 0 && t <= 1).sort((s, t) => s - t);
}

/** Pieces of a line, two points each, as lines of many points: pieces that share an end are joined. */
function chained(pieces) {
  const key = ([x, y]) => `${x.toFixed(7)},${y.toFixed(7)}`, ends = new Map(), left = new Set(pieces);
  for (const piece of pieces) {
    for (const end of piece) ends.set(key(end), [...(ends.get(key(end)) ?? []), piece]);
  }
  const extended = line => {
    for (;;) {
      const end = key(line[line.length - 1]), next = (ends.get(end) ?? []).find(piece => left.has(piece));
      if (!next) return line;
      left.delete(next);
      line.push(key(next[0]) === end ? next[1] : next[0]);
    }
  };
  const lines = [];
  for (const piece of pieces) {
    if (!left.delete(piece)) continue;
    const forward = extended(piece.slice());
    lines.push(extended(forward.reverse()));
  }
  return lines;
}

/**
 * Pieces of the boundary of two classes inside a frame, as pairs of points that lie exactly on the conic: the
 * plane is cut into small cells, and each edge of a cell is crossed at a root of a quadratic. `wins(x)` says
 * whether these two classes are the best there.
 */
function boundaryPieces(form, [x0, x1, y0, y1], wins, cells = 64) {
  const pieces = [], dx = (x1 - x0) / cells, dy = (y1 - y0) / cells;
  const crossing = (p, q) => zerosBetween(form, p, q).map(t => [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
  for (let i = 0; i < cells; i++) {
    for (let j = 0; j < cells; j++) {
      const a = [x0 + i * dx, y0 + j * dy], b = [a[0] + dx, a[1]], c = [b[0], a[1] + dy], d = [a[0], c[1]];
      const found = [...crossing(a, b), ...crossing(b, c), ...crossing(d, c), ...crossing(a, d)];
      if (found.length === 2 || found.length === 3) pieces.push([found[0], found[1]]);
      else if (found.length >= 4) {
        const middle = valueAt(form, [a[0] + dx / 2, a[1] + dy / 2]) * valueAt(form, a) > 0;
        pieces.push(middle ? [found[0], found[1]] : [found[0], found[3]], middle ? [found[2], found[3]] : [found[1], found[2]]);
      }
    }
  }
  return pieces.filter(([p, q]) => wins([(p[0] + q[0]) / 2, (p[1] + q[1]) / 2]));
}

// Models fitted in the page to points with a class: LDA, QDA and naive Bayes from sums, logistic and softmax
// regression by Newton's method. Priors and covariances are those of maximum likelihood (divided by N).

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
function fitGaussians(points, K, kind) {
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
function fitLogistic(points, K, C = 1) {
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
function newton(start, value, slopes, most = 100) {
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
function linearForms({ coef, intercept }) {
  return coef.map((w, k) => ({ A: [[0, 0], [0, 0]], b: w, a: intercept[k] }));
}

// Logistic regression of one feature, in the plane of intercept and slope: the mean log loss of rows, its gradient and
// curvature, and the paths that gradient descent and Newton's method take over it.

/** Mean log loss of intercept and slope, without overflow. */
function meanLoss(rows, [b, w]) {
  let sum = 0;
  for (const [x, y] of rows) {
    const margin = y ? b + w * x : -(b + w * x);
    sum += Math.max(-margin, 0) + Math.log1p(Math.exp(-Math.abs(margin)));
  }
  return sum / rows.length;
}

/** Its gradient and its matrix of second derivatives. */
function slopesAt(rows, [b, w]) {
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
function descentPath(rows, start, rate, steps) {
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
function newtonPath(rows, start, steps = 30) {
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
function largestCurvature(H) {
  const middle = (H[0][0] + H[1][1]) / 2;
  return middle + Math.hypot((H[0][0] - H[1][1]) / 2, H[0][1]);
}

// Elements made by hand. Names and cells only ever become text nodes and attributes: nothing is parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return node;
}

/** An HTML element with attributes (`onclick` and the like listen) and children. */
function element(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function drawn(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** The colour of a class, by its place. */
function classColour(k) {
  return `var(--class-${k % 8})`;
}

/** A number for people: few digits, a real minus sign. */
function shownNumber(value, digits = 3) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  let text;
  if (size >= 1000) text = value.toLocaleString("en-US", { maximumFractionDigits: 0 });
  else if (size > 1e-9 && size < 0.5 * 10 ** -digits) text = value.toExponential(1);
  else text = value.toFixed(size >= 100 ? Math.min(1, digits) : digits);
  return text.replace("-", "−");
}

/** A share as a percentage. */
function percent(share, digits = 1) {
  return Number.isNaN(share) ? "–" : `${(100 * share).toFixed(digits)} %`;
}

/** Words that change, written only where they have: a page that stays the same is not laid out again. */
function say(node, words) {
  if (node.textContent !== words) node.textContent = words;
}

let lastId = 0;

/** A name for an element that a label or a description points to. */
function freshId(word) {
  lastId += 1;
  return `${word}-${lastId}`;
}

/** A slider with its number beside it; `change(value)` hears both. `set` moves it without telling. */
function slider({ label, low, high, step, value, change, unit = "" }) {
  const id = freshId("slide");
  const range = element("input", { type: "range", id, min: low, max: high, step, value, oninput: () => moved(range, box) });
  const box = element("input", {
    type: "number", min: low, max: high, step: "any", value, "aria-label": `${label}, as a number`,
    oninput: () => moved(box, range),
  });
  const moved = (from, to) => {
    const given = from.valueAsNumber;
    if (!Number.isFinite(given) || given < low || given > high) return;
    to.value = given;
    change(given);
  };
  const node = element("div", { class: label.length > 14 ? "slider long" : "slider" }, element("label", { for: id }, label), range,
    element("span", { class: "boxed" }, box, unit ? element("span", { class: "unit" }, unit) : null));
  const set = given => {
    if (document.activeElement !== range) range.value = given;
    if (document.activeElement !== box) box.value = Number(given.toPrecision(6));
  };
  return { node, set, range, box };
}

/** Work that is done at most once a frame, however often it is asked for. */
function oncePerFrame(work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; work(); });
  };
}

// Charts in SVG, by hand: axes once, paths again at every setting.

const WIDE = 380, HIGH = 240, LEFT = 46, RIGHT = 12, TOP = 10, BOTTOM = 38;

/** Round numbers between two ends, about so many. */
function ticks(low, high, about = 5) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => span / s <= about) ?? 10 * power;
  const found = [];
  for (let t = Math.ceil(low / step - 1e-9); t * step <= high + 1e-9 * span; t++) found.push(t * step);
  return found;
}

/** A chart of lines: `series` are name, class and (optional) dash; `update` moves them. */
class LineChart {
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
function reliabilityMarks(chart, bins) {
  return bins.map(bin => {
    const [x, y] = chart.at(bin.predicted, bin.observed);
    const [, low] = chart.at(bin.predicted, bin.low), [, high] = chart.at(bin.predicted, bin.high);
    return drawn("g", { class: "dot" }, drawn("path", { d: `M${x} ${low}V${high}` }), drawn("circle", { cx: x, cy: y, r: 3.2 }),
      drawn("title", null, `predicted ${shownNumber(bin.predicted)}, observed ${shownNumber(bin.observed)}, ${shownNumber(bin.weight, 1)} rows`));
  });
}

/** Bars for the posterior of each class. */
class PosteriorBars {
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

// A square piece of the plane: a canvas that is shaded, lines and handles above it, moved by pointer, touch and keys.

const SIDE = 400; // units of the picture

/** What the classes of a picture are called. */
const LETTERS = ["A", "B", "C"];

/** Colours as numbers, from the custom properties of an element. */
function coloursOf(node, names) {
  const style = getComputedStyle(node);
  return names.map(name => {
    const text = style.getPropertyValue(name).trim().replace("#", "");
    return [0, 2, 4].map(at => parseInt(text.slice(at, at + 2), 16));
  });
}

class Plane {
  constructor([x0, x1, y0, y1], label, xLabel = "x₁", yLabel = "x₂") {
    Object.assign(this, { x0, x1, y0, y1 });
    this.canvas = element("canvas", { width: 200, height: 200, "aria-hidden": "true" });
    this.lines = drawn("g");
    this.handles = drawn("g");
    this.svg = drawn("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group", "aria-label": label }, this.grid(xLabel, yLabel), this.lines, this.handles);
    this.node = element("div", { class: "plane" }, this.canvas, this.svg);
  }

  get frame() {
    return [this.x0, this.x1, this.y0, this.y1];
  }

  grid(xLabel, yLabel) {
    const parts = [];
    for (const t of ticks(this.x0, this.x1, 6).slice(1, -1)) {
      parts.push(drawn("text", { class: "tick", x: this.at([t, 0])[0], y: SIDE - 5, "text-anchor": "middle" }, String(Number(t.toPrecision(4))).replace("-", "−")));
    }
    for (const t of ticks(this.y0, this.y1, 6).slice(1, -1)) {
      parts.push(drawn("text", { class: "tick", x: 5, y: this.at([0, t])[1] + 4 }, String(Number(t.toPrecision(4))).replace("-", "−")));
    }
    parts.push(drawn("text", { class: "tick name", x: SIDE - 5, y: SIDE - 5, "text-anchor": "end" }, xLabel), drawn("text", { class: "tick name", x: 5, y: 14 }, yLabel));
    return drawn("g", { "aria-hidden": "true" }, parts);
  }

  /** The place of a point in the picture. */
  at([x, y]) {
    return [(x - this.x0) / (this.x1 - this.x0) * SIDE, (this.y1 - y) / (this.y1 - this.y0) * SIDE];
  }

  /** The point of an event. */
  pointOf(event) {
    const box = this.svg.getBoundingClientRect();
    return [this.x0 + (event.clientX - box.left) / box.width * (this.x1 - this.x0), this.y1 - (event.clientY - box.top) / box.height * (this.y1 - this.y0)];
  }

  /** A point within the frame, a little off its edges. */
  inside([x, y]) {
    const dx = (this.x1 - this.x0) * 0.01, dy = (this.y1 - this.y0) * 0.01;
    return [Math.min(Math.max(x, this.x0 + dx), this.x1 - dx), Math.min(Math.max(y, this.y0 + dy), this.y1 - dy)];
  }

  /** Shade the plane: `colourAt(point)` gives red, green, blue and how much of it. */
  shade(colourAt) {
    const { width, height } = this.canvas, context = this.canvas.getContext("2d"), image = context.createImageData(width, height);
    for (let j = 0, at = 0; j < height; j++) {
      const y = this.y1 - (j + 0.5) / height * (this.y1 - this.y0);
      for (let i = 0; i < width; i++, at += 4) {
        const [red, green, blue, much] = colourAt([this.x0 + (i + 0.5) / width * (this.x1 - this.x0), y]);
        image.data[at] = red;
        image.data[at + 1] = green;
        image.data[at + 2] = blue;
        image.data[at + 3] = 255 * much;
      }
    }
    context.putImageData(image, 0, 0);
  }

  /** A line through points. */
  path(points, attributes) {
    const d = points.map((point, i) => { const [x, y] = this.at(point); return `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`; }).join("");
    return drawn("path", { d, fill: "none", ...attributes });
  }

  /** Pieces of a line, two points each, put together where they meet, so that dashes go on. */
  pieces(pairs, attributes) {
    const d = chained(pairs).map(points => points.map((point, i) => { const [x, y] = this.at(point); return `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`; }).join("")).join("");
    return drawn("path", { d, fill: "none", ...attributes });
  }

  /** The ellipse of points at so many standard deviations of a covariance with these axes. */
  ellipse(mean, { a, b, angle }, times, attributes) {
    const points = Array.from({ length: 65 }, (_, i) => {
      const t = i / 64 * 2 * Math.PI, u = times * a * Math.cos(t), v = times * b * Math.sin(t);
      return [mean[0] + u * Math.cos(angle) - v * Math.sin(angle), mean[1] + u * Math.sin(angle) + v * Math.cos(angle)];
    });
    return this.path(points, attributes);
  }

  /** Something to be dragged, or moved with the arrow keys; `move(point)` hears where to, `say()` gives its words. */
  handle({ at, move, say, colour, small = false, shape = "circle", remove = null }) {
    const dot = shape === "circle" ? drawn("circle", { r: small ? 5.5 : 8 }) : drawn("path", { d: "M0 -8L8 0L0 8L-8 0Z" });
    const node = drawn("g", { class: small ? "handle small" : "handle", tabindex: "0", role: "button", fill: colour }, drawn("circle", { class: "reach", r: 20 }), dot);
    const place = () => {
      const [x, y] = this.at(at());
      node.setAttribute("transform", `translate(${x} ${y})`);
      node.setAttribute("aria-label", say());
    };
    node.addEventListener("pointerdown", event => {
      node.setPointerCapture(event.pointerId);
      event.stopPropagation();
      node.focus({ preventScroll: true });
    });
    // A finger on a handle drags it, and does not scroll the page; elsewhere in the picture it scrolls.
    node.addEventListener("touchstart", event => event.preventDefault(), { passive: false });
    node.addEventListener("pointermove", event => { if (node.hasPointerCapture(event.pointerId)) move(this.inside(this.pointOf(event))); });
    node.addEventListener("click", event => event.stopPropagation());
    node.addEventListener("keydown", event => {
      const step = (event.shiftKey ? 0.1 : 0.02) * (this.x1 - this.x0), [x, y] = at();
      const to = { ArrowLeft: [x - step, y], ArrowRight: [x + step, y], ArrowUp: [x, y + step], ArrowDown: [x, y - step] }[event.key];
      if (to) { event.preventDefault(); move(this.inside(to)); }
      if (remove && ["Delete", "Backspace"].includes(event.key)) { event.preventDefault(); remove(); }
    });
    this.handles.append(node);
    place();
    return { node, place };
  }
}

// Drag two or three Gaussians, and see densities, posterior and the exact boundary follow.

const GAUSSIANS_FRAME = [-5, 5, -5, 5];

class LiveGaussians {
  constructor(host) {
    this.host = host;
    this.all = [
      gaussianClass([-1.6, -0.6], covarianceOf(1.5, 0.8, 0.5), 0.5),
      gaussianClass([1.6, 0.8], covarianceOf(1.1, 0.7, -0.6), 0.5),
      gaussianClass([0.4, -2.9], covarianceOf(1.3, 0.6, 0.1), 0.5),
    ];
    this.n = host.dataset.classes === "3" ? 3 : 2;
    this.tied = host.dataset.tied === "yes";
    this.probe = [0, 0];
    this.later = oncePerFrame(() => this.update());
    this.plane = new Plane(GAUSSIANS_FRAME, "Gaussian classes in a plane: drag a centre, the end of an axis, or the diamond where the posterior is read");
    this.words = element("p", { class: "said", "aria-live": "polite" });
    this.side = element("div", { class: "side" });
    this.node = element("div", { class: "live" }, this.plane.node, this.side);
    this.build();
  }

  /** The classes as they are: priors as shares, one covariance where that is asked for. */
  get classes() {
    const some = this.all.slice(0, this.n), total = some.reduce((sum, each) => sum + each.prior, 0);
    return some.map(each => ({ ...each, prior: each.prior / total, covariance: this.tied ? some[0].covariance : each.covariance }));
  }

  build() {
    const { plane } = this, change = () => this.later();
    plane.handles.replaceChildren();
    this.grips = [];
    const grip = options => { const made = plane.handle(options); this.grips.push(made); };
    for (let k = 0; k < this.n; k++) {
      const own = this.all[k], colour = classColour(k);
      grip({ at: () => own.mean, colour, move: to => { own.mean = to; change(); }, say: () => `centre of class ${LETTERS[k]}, at ${spot(own.mean)}; arrow keys move it` });
      if (this.tied && k > 0) continue;
      const end = which => {
        const { a, b, angle } = axesOf(own.covariance), length = which ? b : a, turn = angle + (which ? Math.PI / 2 : 0);
        return [own.mean[0] + length * Math.cos(turn), own.mean[1] + length * Math.sin(turn)];
      };
      const pull = which => to => {
        const dx = to[0] - own.mean[0], dy = to[1] - own.mean[1], length = Math.min(Math.max(Math.hypot(dx, dy), 0.25), 4);
        const { a, b } = axesOf(own.covariance), turn = Math.atan2(dy, dx) - (which ? Math.PI / 2 : 0);
        own.covariance = which ? covarianceOf(a, Math.min(length, a), turn) : covarianceOf(Math.max(length, b), b, turn);
        change();
      };
      for (const which of [0, 1]) {
        grip({ at: () => end(which), colour, small: true, move: pull(which), say: () => `${which ? "short" : "long"} axis of class ${LETTERS[k]}, standard deviation ${shownNumber(axesOf(own.covariance)[which ? "b" : "a"], 2)}; arrow keys move its end` });
      }
    }
    grip({ at: () => this.probe, shape: "diamond", colour: "var(--live-ink)", move: to => { this.probe = to; change(); }, say: () => `where the posterior is read, at ${spot(this.probe)}; arrow keys move it` });
    this.bars = new PosteriorBars(LETTERS.slice(0, this.n));
    const number = k => slider({ label: `how frequent ${LETTERS[k]} is`, low: 0.01, high: 1, step: 0.01, value: this.all[k].prior, change: value => { this.all[k].prior = value; change(); } }).node;
    const price = k => slider({ label: `what missing ${LETTERS[k]} costs`, low: 0.1, high: 10, step: 0.1, value: this.all[k].cost, change: value => { this.all[k].cost = value; change(); } }).node;
    const each = make => Array.from({ length: this.n }, (_, k) => make(k));
    const tied = element("input", { type: "checkbox", checked: this.tied, onchange: event => { this.tied = event.target.checked; this.build(); } });
    const three = element("input", { type: "checkbox", checked: this.n === 3, onchange: event => { this.n = event.target.checked ? 3 : 2; this.build(); } });
    this.side.replaceChildren(this.words, element("p", { class: "aside" }, "At the diamond:"), this.bars.node, ...each(number), ...each(price),
      element("p", { class: "ticks" }, element("label", null, tied, " one covariance for all (LDA)"), element("label", null, three, " a third class")));
    this.update();
  }

  /** Again, in other colours. */
  repaint() {
    this.update();
  }

  /** Everything again for the classes as they are. */
  update() {
    const { plane } = this, classes = this.classes, forms = classes.map(quadraticOf);
    const costly = forms.map((form, k) => ({ ...form, a: form.a + Math.log(classes[k].cost) }));
    const colours = coloursOf(this.host, classes.map((_, k) => `--class-${k}`));
    const level = Math.max(...classes.map((each, k) => valueAt(forms[k], each.mean)));
    plane.shade(x => {
      const values = forms.map(form => valueAt(form, x)), p = posteriorAt(forms, x);
      const dense = Math.exp(0.35 * (Math.max(...values) - level));
      return [0, 1, 2].map(c => p.reduce((sum, share, k) => sum + share * colours[k][c], 0)).concat(0.12 + 0.5 * Math.min(dense, 1));
    });
    const lines = [];
    classes.forEach((each, k) => {
      const axes = axesOf(each.covariance);
      for (const times of [1, 2]) lines.push(plane.ellipse(each.mean, axes, times, { stroke: classColour(k), "stroke-width": times === 1 ? 2 : 1.2 }));
    });
    this.boundaries = [];
    const told = [];
    for (let a = 0; a < classes.length; a++) {
      for (let b = a + 1; b < classes.length; b++) {
        const form = boundaryForm(classes[a], classes[b]), type = conicType(form);
        const wins = x => { const best = Math.max(...costly.map(f => valueAt(f, x))); return Math.max(valueAt(costly[a], x), valueAt(costly[b], x)) >= best - 1e-9; };
        this.boundaries.push({ pair: [a, b], form, type });
        told.push(`${LETTERS[a]} against ${LETTERS[b]}: ${type}`);
        lines.push(plane.pieces(boundaryPieces(form, plane.frame, wins), { class: "boundary" }));
      }
    }
    plane.lines.replaceChildren(...lines);
    for (const grip of this.grips) grip.place();
    this.posterior = posteriorAt(forms, this.probe);
    this.bars.set(this.posterior);
    this.words.textContent = `The boundary where ${classes.some(each => each.cost !== 1) ? "expected costs" : "posteriors"} are equal. ${told.join("; ")}.`;
  }
}

function spot([x, y]) {
  return `${shownNumber(x, 1)}, ${shownNumber(y, 1)}`;
}

// Click to add points, and watch LDA, QDA, naive Bayes and logistic regression refit.

const POINTS_FRAME = [-4, 4, -4, 4];
const KINDS = [["lda", "LDA", "solid"], ["qda", "QDA", "8 4"], ["naive", "naive Bayes", "2 3"], ["logistic", "logistic", "12 3 2 3"]];

class LivePoints {
  constructor(host) {
    this.host = host;
    this.next = 0;
    this.shown = new Set(["lda", "qda", "naive", "logistic"]);
    this.shading = "lda";
    this.points = FIRST_POINTS.map(([x, y, k]) => ({ x: [x, y], k }));
    this.later = oncePerFrame(() => this.update());
    this.plane = new Plane(POINTS_FRAME, "points of classes in a plane: click adds one, drag moves one, Delete removes it");
    this.plane.svg.addEventListener("click", event => this.add(this.plane.inside(this.plane.pointOf(event))));
    this.words = element("p", { class: "said", "aria-live": "polite" });
    this.table = element("tbody");
    const chooser = element("p", { class: "ticks", role: "radiogroup", "aria-label": "class of the next point" }, "A click adds ", LETTERS.map((name, k) => element("label", null,
      element("input", { type: "radio", name: "live-next", checked: k === 0, onchange: () => { this.next = k; } }), pointSwatch(k), name)));
    const models = element("fieldset", null, element("legend", null, "boundaries of"), KINDS.map(([kind, name, dash]) => element("label", null,
      element("input", { type: "checkbox", checked: true, onchange: event => { this.shown[event.target.checked ? "add" : "delete"](kind); this.later(); } }), ` ${name} `, dashKey(dash))));
    const shade = element("select", { "aria-label": "whose posterior is shaded", onchange: event => { this.shading = event.target.value; this.later(); } }, KINDS.map(([kind, name]) => element("option", { value: kind }, name)));
    const buttons = element("p", { class: "ticks" },
      element("button", { type: "button", onclick: () => this.add([0, 0]) }, "Add a point in the middle"),
      element("button", { type: "button", onclick: () => { this.points.pop(); this.rebuild(); } }, "Take the last one away"),
      element("button", { type: "button", onclick: () => { this.points = FIRST_POINTS.map(([x, y, k]) => ({ x: [x, y], k })); this.rebuild(); } }, "Begin again"));
    this.node = element("div", { class: "live" }, this.plane.node, element("div", { class: "side" }, this.words, chooser, models,
      element("p", { class: "ticks" }, element("label", null, "shaded: ", shade)),
      element("table", { class: "fits" }, element("thead", null, element("tr", null, ["model", "right", "log loss"].map(head => element("th", { scope: "col" }, head)))), this.table), buttons));
    this.rebuild();
  }

  add(x) {
    this.points.push({ x, k: this.next });
    this.rebuild();
  }

  rebuild() {
    this.plane.handles.replaceChildren();
    this.grips = this.points.map(point => this.plane.handle({
      at: () => point.x, colour: classColour(point.k), small: true, move: to => { point.x = to; this.later(); },
      remove: () => { this.points.splice(this.points.indexOf(point), 1); this.rebuild(); },
      say: () => `a point of class ${LETTERS[point.k]} at ${shownNumber(point.x[0], 1)}, ${shownNumber(point.x[1], 1)}; arrow keys move it, Delete removes it`,
    }));
    this.update();
  }

  /** The classes that have points, numbered anew for the models. */
  numbered() {
    const seen = [0, 1, 2].filter(k => this.points.some(point => point.k === k));
    return { seen, points: this.points.map(({ x, k }) => ({ x, k: seen.indexOf(k) })) };
  }

  /** The score functions of each model, null where the points do not determine it. */
  fit() {
    const { seen, points } = this.numbered(), K = seen.length, fits = {};
    for (const [kind] of KINDS) {
      if (K < 2) { fits[kind] = null; continue; }
      if (kind === "logistic") { fits[kind] = linearForms(fitLogistic(points, K)); continue; }
      const classes = fitGaussians(points, K, kind);
      try { fits[kind] = classes && classes.map(quadraticOf); } catch { fits[kind] = null; } // points on one line
    }
    return { seen, points, fits };
  }

  /** Again, in other colours. */
  repaint() {
    this.update();
  }

  update() {
    const { plane } = this, { seen, points, fits } = this.fit();
    this.fits = fits;
    const colours = coloursOf(this.host, seen.map(k => `--class-${k}`)), shading = fits[this.shading];
    plane.shade(x => {
      if (!shading) return [0, 0, 0, 0];
      const p = posteriorAt(shading, x);
      return [0, 1, 2].map(c => p.reduce((sum, share, k) => sum + share * colours[k][c], 0)).concat(0.28);
    });
    const lines = [];
    for (const [kind, , dash] of KINDS) {
      const forms = fits[kind];
      if (!forms || !this.shown.has(kind)) continue;
      for (let a = 0; a < forms.length; a++) {
        for (let b = a + 1; b < forms.length; b++) {
          const f = forms[a], g = forms[b];
          const form = { A: f.A.map((row, i) => row.map((value, j) => value - g.A[i][j])), b: f.b.map((value, j) => value - g.b[j]), a: f.a - g.a };
          if (kind === "lda") form.A = [[0, 0], [0, 0]]; // equal covariances, to rounding
          const wins = x => { const best = Math.max(...forms.map(each => valueAt(each, x))); return valueAt(f, x) >= best - 1e-9 || valueAt(g, x) >= best - 1e-9; };
          lines.push(plane.pieces(boundaryPieces(form, plane.frame, wins, 48), { class: "boundary", "stroke-dasharray": dash === "solid" ? null : dash }));
        }
      }
    }
    plane.lines.replaceChildren(...lines);
    for (const grip of this.grips) grip.place();
    this.table.replaceChildren(...KINDS.map(([kind, name]) => element("tr", null, element("th", { scope: "row" }, name), ...this.scores(fits[kind], points).map(text => element("td", null, text)))));
    this.words.textContent = `${this.points.length} points of ${seen.length} ${seen.length === 1 ? "class" : "classes"}. Click in the picture to add one, drag to move one.`;
  }

  scores(forms, points) {
    if (!forms) return ["–", "too few points"];
    let right = 0, loss = 0;
    for (const { x, k } of points) {
      const p = posteriorAt(forms, x);
      if (p.indexOf(Math.max(...p)) === k) right += 1;
      loss -= Math.log(p[k]);
    }
    return [`${right} of ${points.length}`, shownNumber(loss / points.length)];
  }
}

function pointSwatch(k) {
  const node = element("span", { class: "swatch", "aria-hidden": "true" });
  node.style.background = classColour(k);
  return node;
}

function dashKey(dash) {
  return drawn("svg", { class: "dash", viewBox: "0 0 44 8", "aria-hidden": "true" }, drawn("path", { class: "boundary", d: "M0 4H44", "stroke-dasharray": dash === "solid" ? null : dash }));
}

const FIRST_POINTS = [
  [-2.1, -1.9, 0], [-1.4, -0.7, 0], [-1.9, 0.6, 0], [-0.7, -0.4, 0], [-1.1, -1.6, 0], [-2.6, -0.9, 0], [0.4, 0.9, 0], [-0.2, 0.3, 0], [-1.2, 0.2, 0],
  [0.6, -0.5, 1], [1.3, 1.0, 1], [0.1, 1.9, 1], [1.8, 0.3, 1], [2.1, 1.8, 1], [-0.6, 2.4, 1], [1.1, -0.2, 1], [1.0, 2.7, 1], [2.7, -1.3, 1], [-0.5, 0.9, 1],
];

// A learning rate on a slider: the path of gradient descent over the loss of a logistic model, beside Newton's.

const DESCENT_FRAME = [-4, 4, -1.5, 6.5];
// One feature, two classes that overlap: a finite optimum, and a long valley.
const DESCENT_ROWS = [[-2.2, 0], [-1.7, 0], [-1.1, 0], [-0.9, 1], [-0.6, 0], [-0.2, 0], [0.1, 1], [0.4, 0], [0.7, 1], [1.2, 1], [1.5, 1], [2.4, 1]];

class LiveDescent {
  constructor(host) {
    this.host = host;
    this.rows = DESCENT_ROWS;
    this.start = [-2.2, 0.2];
    this.rate = 2;
    this.steps = 40;
    this.later = oncePerFrame(() => this.update());
    this.plane = new Plane(DESCENT_FRAME, "the mean log loss of a logistic model by intercept and slope, with the paths of gradient descent and Newton's method", "intercept", "slope");
    this.plane.handle({ at: () => this.start, colour: "var(--live-ink)", shape: "diamond", move: to => { this.start = to; this.later(); this.place(); },
      say: () => `where both begin, intercept ${shownNumber(this.start[0], 1)}, slope ${shownNumber(this.start[1], 1)}; arrow keys move it` });
    this.words = element("p", { class: "said", "aria-live": "polite" });
    const scale = 100; // the slider is logarithmic
    const rate = slider({ label: "learning rate", low: 0.05, high: 40, step: 0.05, value: this.rate, change: value => { this.rate = value; this.later(); } });
    rate.range.min = Math.log(0.05) * scale;
    rate.range.max = Math.log(40) * scale;
    rate.range.step = 1;
    rate.range.value = Math.log(this.rate) * scale;
    const track = rate.range.cloneNode();
    rate.range.replaceWith(track);
    track.addEventListener("input", () => { this.rate = Number(Math.exp(track.valueAsNumber / scale).toPrecision(3)); rate.box.value = this.rate; this.later(); });
    rate.box.addEventListener("input", () => { if (rate.box.valueAsNumber > 0) track.value = Math.log(rate.box.valueAsNumber) * scale; });
    const steps = slider({ label: "steps", low: 1, high: 300, step: 1, value: this.steps, change: value => { this.steps = Math.round(value); this.later(); } });
    this.table = element("tbody");
    this.node = element("div", { class: "live" }, this.plane.node, element("div", { class: "side" }, this.words, rate.node, steps.node,
      element("table", { class: "fits" }, element("thead", null, element("tr", null, ["", "steps", "intercept", "slope", "mean log loss"].map(head => element("th", { scope: "col" }, head)))), this.table),
      element("p", { class: "aside" }, "Drag the diamond to begin elsewhere. Newton’s whole steps can overshoot far from the bottom; gradient descent settles only where its rate is below two over the largest curvature there.")));
    this.shadeOnce();
    this.update();
  }

  place() {
    for (const child of this.plane.handles.children) {
      const [x, y] = this.plane.at(this.start);
      child.setAttribute("transform", `translate(${x} ${y})`);
    }
  }

  /** Bands of equal loss: the plane does not change, only the paths do. */
  shadeOnce() {
    const [ink] = coloursOf(this.host, ["--class-0"]), bottom = newtonPath(DESCENT_ROWS, [0, 0]).at(-1);
    const low = meanLoss(DESCENT_ROWS, bottom);
    this.bottom = bottom;
    this.plane.shade(point => {
      const band = Math.floor(3 * Math.log2(1 + 20 * (meanLoss(DESCENT_ROWS, point) - low)));
      return [...ink, Math.min(0.05 + 0.035 * band, 0.75)];
    });
  }

  /** Again, in other colours. */
  repaint() {
    this.shadeOnce();
  }

  update() {
    const { plane } = this;
    this.descent = descentPath(DESCENT_ROWS, this.start, this.rate, this.steps);
    this.newton = newtonPath(DESCENT_ROWS, this.start);
    const shown = path => path.filter(point => point.every(value => Math.abs(value) < 1e3));
    const dots = (path, kind) => shown(path).map(point => { const [x, y] = plane.at(point); return drawn("circle", { class: kind, cx: x, cy: y, r: 2.6 }); });
    const [bx, by] = plane.at(this.bottom);
    plane.lines.replaceChildren(
      plane.path(shown(this.descent), { class: "walk descent" }), ...dots(this.descent, "descent"),
      plane.path(shown(this.newton), { class: "walk newton", "stroke-dasharray": "6 4" }), ...dots(this.newton, "newton"),
      drawn("path", { class: "bottom", d: `M${bx - 6} ${by - 6}L${bx + 6} ${by + 6}M${bx + 6} ${by - 6}L${bx - 6} ${by + 6}` }));
    const line = (name, path, kind) => {
      const end = path.at(-1), loss = meanLoss(DESCENT_ROWS, end);
      return element("tr", { class: kind }, element("th", { scope: "row" }, name), element("td", null, String(path.length - 1)), ...[end[0], end[1], loss].map(value => element("td", null, shownNumber(value, 4))));
    };
    this.table.replaceChildren(line("descent", this.descent, "descent"), line("Newton", this.newton, "newton"));
    const most = 2 / largestCurvature(slopesAt(DESCENT_ROWS, this.bottom).H), apart = Math.hypot(...this.descent.at(-1).map((value, i) => value - this.bottom[i]));
    const lost = Math.hypot(...this.newton.at(-1).map((value, i) => value - this.bottom[i])) > 1e-6;
    this.words.textContent = (this.rate > most ? `At rates above ${shownNumber(most, 1)} gradient descent cannot settle at the bottom.`
      : apart < 0.01 ? "Gradient descent has arrived." : `After ${this.descent.length - 1} steps gradient descent is ${shownNumber(apart, 2)} from the bottom.`)
      + (lost ? " From this start Newton’s whole steps fly apart: a solver halves them." : ` Newton’s method took ${this.newton.length - 1} steps.`);
  }
}

// The moving pictures of the course. A page has <div class="posterior-live" data-live="gaussians">with the figure
// that was computed when the page was made</div>; this puts the picture that moves in its place.

const LIVE = { gaussians: LiveGaussians, points: LivePoints, descent: LiveDescent };

/** Put a moving picture into a holder; the figure that it held stays below, folded. */
function mountLive(host) {
  const Kind = LIVE[host.dataset.live];
  if (!Kind || host.posteriorLive) return;
  const figure = [...host.childNodes];
  const live = new Kind(host);
  const kept = element("details", { class: "computed" }, element("summary", null, "The same as a still picture"), figure);
  host.replaceChildren(live.node, ...(figure.some(part => part.nodeType === 1) ? [kept] : []));
  host.posteriorLive = live;
  // Colours of the canvas are numbers: they are read again where the theme changes.
  const repaint = () => requestAnimationFrame(() => live.repaint());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  new MutationObserver(repaint).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

for (const host of document.querySelectorAll(".posterior-live")) mountLive(host);
// For tests and for the console.
globalThis.posteriorLive = { mountLive, boundaryForm, conicType, posteriorAt, quadraticOf, zerosBetween, fitGaussians, fitLogistic, descentPath, newtonPath, meanLoss };

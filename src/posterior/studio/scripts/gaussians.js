// Gaussian classes in the plane: log joints, posteriors, and the exact boundary of every two classes, a conic.
import { LOG_2PI, cholesky, dot, factorSolve, logDeterminant, logSoftmax } from "./maths.js";

/** A class: mean, covariance, prior, and what a mistake costs where it is the truth. */
export function gaussianClass(mean, covariance, prior = 1, cost = 1) {
  return { mean, covariance, prior, cost };
}

/** Covariance of a main axis of length a in a direction, and another of length b across it. */
export function covarianceOf(a, b, angle) {
  const c = Math.cos(angle), s = Math.sin(angle), p = a * a, q = b * b;
  return [[p * c * c + q * s * s, (p - q) * c * s], [(p - q) * c * s, p * s * s + q * c * c]];
}

/** Lengths of the axes of a covariance, the longer first, and the direction of that. */
export function axesOf([[p, r], [, q]]) {
  const middle = (p + q) / 2, spread = Math.hypot((p - q) / 2, r);
  return { a: Math.sqrt(middle + spread), b: Math.sqrt(Math.max(middle - spread, 0)), angle: 0.5 * Math.atan2(2 * r, p - q) };
}

/** x ↦ ln p(x, class) as a quadratic form x'Ax + b·x + a about the origin, {A, b, a}. */
export function quadraticOf({ mean, covariance, prior }) {
  const L = cholesky(covariance), n = mean.length;
  const inverse = mean.map((_, j) => Array.from(factorSolve(L, mean.map((_, i) => (i === j ? 1 : 0)))));
  const b = Array.from(factorSolve(L, mean));
  return {
    A: inverse.map(row => row.map(value => -0.5 * value)), b,
    a: -0.5 * (dot(mean, b) + logDeterminant(L) + n * LOG_2PI) + Math.log(prior),
  };
}

/** The value of a quadratic form. */
export function valueAt({ A, b, a }, x) {
  let sum = a;
  for (let i = 0; i < x.length; i++) {
    let row = b[i];
    for (let j = 0; j < x.length; j++) row += A[i][j] * x[j];
    sum += row * x[i];
  }
  return sum;
}

/** Posteriors at a point. */
export function posteriorAt(forms, x) {
  return logSoftmax(forms.map(form => valueAt(form, x))).map(Math.exp);
}

/**
 * The boundary between two classes under costs of mistakes: where ln p(x, 1) c₁ = ln p(x, 2) c₂. What is left of
 * equal covariances is rounding, and is taken off, so that a line is a line.
 */
export function boundaryForm(one, other) {
  const f = quadraticOf(one), g = quadraticOf(other);
  const A = f.A.map((row, i) => row.map((value, j) => value - g.A[i][j]));
  const size = Math.max(...f.A.flat().map(Math.abs), ...g.A.flat().map(Math.abs));
  const straight = A.flat().every(value => Math.abs(value) <= 1e-12 * size);
  return { A: straight ? A.map(row => row.map(() => 0)) : A, b: f.b.map((value, j) => value - g.b[j]), a: f.a - g.a + Math.log(one.cost / other.cost) };
}

/** What the zeros of a form are: line, ellipse, parabola, hyperbola, crossing or parallel lines, a point, empty. */
export function conicType({ A, b, a }) {
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
export function zerosBetween(form, from, to) {
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
export function chained(pieces) {
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
export function boundaryPieces(form, [x0, x1, y0, y1], wins, cells = 64) {
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

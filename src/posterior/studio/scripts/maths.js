// The maths that the studio and the moving pictures share. No module of this folder works out a posterior,
// a factor of a covariance or an interval in another way; tests compare all of it with the Python library.

export const LOG_2PI = Math.log(2 * Math.PI);

/** ln Σ exp(x), without overflow; −∞ of nothing but impossible things. */
export function logSumExp(values) {
  let top = -Infinity, sum = 0;
  for (const value of values) if (value > top) top = value;
  if (top === -Infinity) return top;
  for (const value of values) sum += Math.exp(value - top);
  return top + Math.log(sum);
}

/** Scores less their ln Σ exp, as an array: log posteriors. Small ones keep their digits by ln(1 + x). */
export function logSoftmax(scores) {
  let best = 0;
  for (let k = 1; k < scores.length; k++) if (scores[k] > scores[best]) best = k;
  let others = 0;
  for (let k = 0; k < scores.length; k++) if (k !== best) others += Math.exp(scores[k] - scores[best]);
  const rest = Math.log1p(others);
  return Array.from(scores, score => score - scores[best] - rest);
}

/** Probabilities in proportion to the exponentials of scores. */
export function softmax(scores) {
  return logSoftmax(scores).map(Math.exp);
}

/** 1 / (1 + exp(−x)), exact in both tails. */
export function sigmoid(x) {
  if (x >= 0) return 1 / (1 + Math.exp(-x));
  const e = Math.exp(x);
  return e / (1 + e);
}

/** Wilson's (1927) interval of a share of so many rows, at 95 %. */
export function wilson(share, weight) {
  const z = 1.959963984540054;
  const middle = share + z * z / (2 * weight);
  const spread = z * Math.sqrt(share * (1 - share) / weight + z * z / (4 * weight * weight));
  const scale = 1 + z * z / weight;
  return [share === 0 ? 0 : Math.max((middle - spread) / scale, 0), share === 1 ? 1 : Math.min((middle + spread) / scale, 1)];
}

// -- matrices, as arrays of rows ---------------------------------------------------------------------

/** The lower factor L of a symmetric positive definite matrix, A = L L'; null where it is not definite. */
export function cholesky(A) {
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
export function forwardSolve(L, b) {
  const w = new Float64Array(b.length);
  for (let i = 0; i < b.length; i++) {
    let sum = b[i];
    for (let j = 0; j < i; j++) sum -= L[i][j] * w[j];
    w[i] = sum / L[i][i];
  }
  return w;
}

/** Solve A x = b by the lower factor of A. */
export function factorSolve(L, b) {
  const x = forwardSolve(L, b);
  for (let i = b.length - 1; i >= 0; i--) {
    let sum = x[i];
    for (let j = i + 1; j < b.length; j++) sum -= L[j][i] * x[j];
    x[i] = sum / L[i][i];
  }
  return x;
}

/** ln |A| from the lower factor of A. */
export function logDeterminant(L) {
  let sum = 0;
  for (let i = 0; i < L.length; i++) sum += Math.log(L[i][i]);
  return 2 * sum;
}

/** Solve a small general system by Gaussian elimination with row exchanges; null where there is no answer. */
export function solve(A, b) {
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
export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

const oneNumber = new Float64Array(1), itsWords = new Uint32Array(oneNumber.buffer);
const UPPER = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

/** The first 32 bits of a number: its sign, eleven bits of its exponent, the beginning of its digits. */
export function firstBits(value) {
  oneNumber[0] = value;
  return itsWords[UPPER];
}

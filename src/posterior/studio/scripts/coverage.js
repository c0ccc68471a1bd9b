// The expected cost up to which rows are answered, where a share of them is to be.
import { firstBits } from "./maths.js";

// Bins of expected costs above the least possible one by the first bits of the number: 32 of them between x and 2x, so that
// no bin holds many rows, however near zero most expected costs are.
const KEPT_BITS = 15, BIT_BINS = 1 << (31 - KEPT_BITS);
const PARTS = 256, FEW = 64, ROUNDING = 1e-9;

/** Rows by expected cost, in bins: the weight in each bin, and the bin of each row. */
function spreadOf(rows) {
  const { n, risk, counts, decided } = rows, { sums, bins } = rows.spread ??= { sums: new Float64Array(BIT_BINS), bins: new Uint16Array(n) };
  const low = decided.flat.reduce((one, other) => Math.min(one, other), 0) * (1 + ROUNDING); // no row costs less
  sums.fill(0);
  for (let i = 0; i < n; i++) sums[bins[i] = firstBits(risk[i] - low) >>> KEPT_BITS] += counts[i];
  return rows.spread;
}

/**
 * The largest expected cost that is answered so that a new row is with this probability at least: the weighted
 * quantile of the risks, found in bins of which one is looked into (Vovk, Gammerman & Shafer 2005).
 */
export function coverageLimit(rows, share, ownWeight) {
  const { n, risk, counts, order, decided } = rows, { total } = decided;
  // Shares have six decimals at most, and whole numbers of rows: the product is exact.
  const needed = Math.round(share * 1e6) * (total + ownWeight) / 1e6;
  if (needed > total) return Infinity;
  const { sums, bins } = decided.spread ??= spreadOf(rows);
  let bin = 0, below = 0, last = BIT_BINS - 1, found = 0;
  while (last > 0 && sums[last] === 0) last--;
  while (bin < last && below + sums[bin] < needed) below += sums[bin++];
  for (let i = 0; i < n; i++) if (bins[i] === bin) order[found++] = i;
  return found ? reached(order.subarray(0, found), risk, counts, below, needed) : Infinity;
}

/** The least expected cost at which the weight of rows up to it, beside the weight below them all, is as much as needed. */
function reached(some, risk, counts, below, needed) {
  let low = Infinity, high = -Infinity;
  for (const i of some) {
    if (risk[i] < low) low = risk[i];
    if (risk[i] > high) high = risk[i];
  }
  const scale = (PARTS - 1) / (high - low);
  if (some.length > FEW && scale < Infinity) { // sorting many takes longer than counting them in parts of equal width
    const sums = new Float64Array(PARTS), partOf = cost => ((cost - low) * scale) | 0;
    for (const i of some) sums[partOf(risk[i])] += counts[i];
    let part = 0;
    while (part < partOf(high) && below + sums[part] < needed) below += sums[part++]; // by rounding, the last may be empty
    return reached(some.filter(i => partOf(risk[i]) === part), risk, counts, below, needed);
  }
  for (const i of some.sort((a, b) => risk[a] - risk[b])) {
    below += counts[i];
    if (below >= needed) return risk[i];
  }
  return high;
}

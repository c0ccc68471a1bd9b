// The expected cost up to which rows are answered, where a share of them is to be.

// Bins of expected costs above the least one by the first bits of the number: 32 of them between x and 2x, so that
// no bin holds many rows, however near zero most expected costs are.
const KEPT_BITS = 15, BIT_BINS = 1 << (31 - KEPT_BITS);
const oneNumber = new Float64Array(1), itsBits = new Uint32Array(oneNumber.buffer);
const HIGH_WORD = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

/** Rows by expected cost, in bins: the least one, the weight in each bin, and the bin of each row. */
function spreadOf(rows) {
  const { n, risk, counts } = rows, sums = new Float64Array(BIT_BINS), bins = rows.bins ??= new Uint16Array(n);
  let low = Infinity;
  for (let i = 0; i < n; i++) if (risk[i] < low) low = risk[i];
  for (let i = 0; i < n; i++) {
    oneNumber[0] = risk[i] - low;
    sums[bins[i] = itsBits[HIGH_WORD] >>> KEPT_BITS] += counts[i];
  }
  return { sums, bins };
}

/**
 * The largest expected cost that is answered so that a new row is with this probability at least: the weighted
 * quantile of the risks, found in bins of which one is sorted (Vovk, Gammerman & Shafer 2005).
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
  const inside = order.subarray(0, found).sort((a, b) => risk[a] - risk[b]);
  for (const i of inside) {
    below += counts[i];
    if (below >= needed) return risk[i];
  }
  return found ? risk[inside[found - 1]] : Infinity;
}

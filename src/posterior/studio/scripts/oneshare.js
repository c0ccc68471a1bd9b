// Rows while one class frequency is moved. The others keep their proportions, so that of each row all that does not
// depend on the moved one is kept, but for a factor: a frame takes a few products a row, however many classes there are.

const PROPORTION = 1e-12, NEARLY = 1e-9, SEVERAL = 65535;

/** What the frequencies of all classes but one were multiplied by; NaN where they did not keep their proportions. */
function factorOfOthers(before, after, k) {
  let factor = NaN;
  for (let j = 0; j < after.length; j++) {
    if (j === k || (before[j] === 0 && after[j] === 0)) continue;
    const ratio = after[j] / before[j];
    if (!(ratio > 0 && ratio < Infinity) || Math.abs(ratio - factor) > PROPORTION * ratio) return NaN;
    if (Number.isNaN(factor)) factor = ratio;
  }
  return factor;
}

/** What is known of a hand that may drag a class frequency: a plain object, since rows are copied to the thread beside. */
export const noDrag = () => ({ about: null, before: null, k: -1, kept: null });

/**
 * What `keep(k)` kept of rows when the drag of class k began, with the factor of the other classes since; null where
 * none is dragged. A hand drags a frequency where the same one moves twice, and what is kept is about the same thing.
 */
export function keptWhileDragged(drag, priors, about, keep) {
  if (!priors) return Object.assign(drag, noDrag()).kept;
  if (drag.about !== about) Object.assign(drag, noDrag(), { about });
  const { before, kept } = drag, factor = kept ? factorOfOthers(kept.priors, priors, kept.k) : NaN;
  if (factor > 0) return { ...kept, factor };
  const k = before ? priors.findIndex((p, j) => p !== before[j] && factorOfOthers(before, priors, j) > 0) : -1;
  const again = k >= 0 && k === drag.k;
  Object.assign(drag, { before: priors, k, kept: again ? { priors, k, factor: 1, ...keep(k) } : null });
  return drag.kept;
}

/**
 * Of each row four numbers side by side: its posterior of class k; of its other classes the largest posterior and the sum
 * of the rest; its posterior of the class looked at; all but the first times what class frequencies multiply them by
 * (not the last, where it is that of class k). `which` is the class of the largest.
 */
export function othersOf(rows, k, positive, { ratio }) {
  const { n, K, posterior } = rows, parts = new Float64Array(4 * n), which = new Uint16Array(n);
  for (let i = 0, at = 0; i < n; i++, at += K) {
    let first = -1, second = -1, sum = 0, best = 0;
    for (let j = 0; j < K; j++) {
      if (j === k) continue;
      const p = posterior[at + j] * ratio[j];
      if (p > first) {
        if (first > 0) sum += first;
        second = first;
        first = p;
        best = j;
      } else {
        sum += p;
        if (p > second) second = p;
      }
    }
    parts[4 * i] = posterior[at + k];
    parts[4 * i + 1] = first;
    parts[4 * i + 2] = sum;
    parts[4 * i + 3] = posterior[at + positive] * (k === positive ? 1 : ratio[positive]);
    which[i] = first - second > NEARLY * first ? best : SEVERAL;
  }
  return { positive, parts, which };
}

/**
 * The pass over rows where every mistake costs one; `fully(i)` works out a row in which rounding could decide.
 * Returns the largest expected cost.
 */
export function passWithOthers(rows, { k, factor, positive, parts, which }, ratio, fully) {
  const { n, action, risk, seen, order: unclear } = rows, times = k === positive ? ratio : factor;
  let high = 0, left = 0;
  for (let i = 0, at = 0; i < n; i++, at += 4) {
    const p = parts[at] * ratio, best = parts[at + 1] * factor, others = parts[at + 2] * factor, sum = p + best + others, second = which[i];
    if (Math.abs(p - best) > NEARLY * sum && second !== SEVERAL) {
      const scale = 1 / sum, likelier = (p > best) | 0;
      // The smaller of p and best, by products with 0 and 1: a branch that goes either way takes longer.
      const cost = (p * (1 - likelier) + best * likelier + others) * scale;
      action[i] = second + (k - second) * likelier;
      risk[i] = cost;
      seen[i] = parts[at + 3] * times * scale;
      if (cost > high) high = cost;
    } else unclear[left++] = i; // no call in the loop, so that its arrays need not be looked up again for each row
  }
  for (let j = 0; j < left; j++) {
    fully(unclear[j]);
    high = Math.max(high, risk[unclear[j]]);
  }
  return high;
}

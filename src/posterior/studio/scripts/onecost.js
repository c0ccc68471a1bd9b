// Rows while one cost is moved: of each row all that does not depend on that cost is kept, so that a frame takes one
// product a row, however many classes there are.

const UNCLEAR = 65535;

/** The one cell [truth, action] in which two tables of costs differ; null where they differ in none or in several. */
export function movedCell(before, after) {
  let found = null;
  for (let k = 0; k < after.length; k++) {
    for (let a = 0; a < after.length; a++) {
      if (before[k][a] === after[k][a]) continue;
      if (found) return null;
      found = [k, a];
    }
  }
  return found;
}

/** Of each row: what the action costs but for the moved cell, its posterior of the cell's class, and the best of the other actions. */
export function heldCosts(rows, [truth, action], columns, posteriorsAt, unsure) {
  const { n, K } = rows, base = new Float64Array(n), share = new Float64Array(n), least = new Float64Array(n), best = new Uint16Array(n);
  const others = columns.slice();
  others[action * K + truth] = 0; // the moved cell
  for (let i = 0; i < n; i++) {
    const { part, sum } = posteriorsAt(i);
    let first = Infinity, second = Infinity, which = 0;
    for (let a = 0; a < K; a++) {
      let cost = 0;
      for (let k = 0; k < K; k++) cost += part[k] * others[a * K + k];
      cost /= sum;
      if (a === action) base[i] = cost;
      else if (cost < first) { second = first; first = cost; which = a; } else if (cost < second) second = cost;
    }
    share[i] = part[truth] / sum;
    least[i] = first;
    best[i] = second - first > unsure ? which : UNCLEAR; // of nearly equal ones the library's choice is asked for each time
  }
  return { base, share, least, best };
}

/** The pass over rows for a value of the moved cell; `fully(i)` works out a row in which rounding could decide. */
export function passWithHeld(rows, { base, share, least, best }, action, value, unsure, fully) {
  const { n, action: actions, risk, order: unclear } = rows;
  let high = 0, left = 0;
  for (let i = 0; i < n; i++) {
    const cost = base[i] + share[i] * value, other = least[i], which = best[i], cheaper = (cost < other) | 0;
    if (Math.abs(cost - other) > unsure && (which !== UNCLEAR || cost < other)) {
      const own = cost * cheaper + other * (1 - cheaper); // by products, as in passWithOthers
      actions[i] = which + (action - which) * cheaper;
      risk[i] = own;
      if (own > high) high = own;
    } else unclear[left++] = i;
  }
  for (let j = 0; j < left; j++) {
    fully(unclear[j]);
    high = Math.max(high, risk[unclear[j]]);
  }
  return high;
}

// What a setting does to single rows held out. Rows are typed arrays, read once; a setting is worked out in one pass
// over them, without sorting and without an exponential: p(k | row) under other priors is p_k π'_k / π_k, rescaled.
import { heldCosts, movedCell, passWithHeld } from "./onecost.js";
import { keptWhileDragged, noDrag, othersOf, passWithOthers } from "./oneshare.js";

const CLOSE = 1e-9, SAME = 1e-14;

/** Bytes of a base64 text as an array of numbers, little-endian as they were written. */
export function unpacked(text, Kind) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i); // several times as quick as Uint8Array.from
  return new Kind(bytes.buffer);
}

/** The rows of a page: posteriors (n × K), classes, weights. */
export function readRows(data) {
  const { n, logs, codes, weight } = data.rows, K = data.classes.length;
  const steps = unpacked(logs, Int16Array), posterior = new Float64Array(n * K);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let k = 0; k < K; k++) {
      const step = steps[i * K + k];
      sum += posterior[i * K + k] = step === -32768 ? 0 : Math.exp(step / 1000);
    }
    for (let k = 0; k < K; k++) posterior[i * K + k] /= sum;
  }
  return {
    n, K, posterior, codes: unpacked(codes, Uint16Array),
    weight: weight ? unpacked(weight, Float64Array) : new Float64Array(n).fill(1),
    // What one pass leaves of each row: its weight, cheapest action and what that is expected to cost, its largest
    // posterior (`surestOf`), that of the class looked at, and what is done in the end.
    counts: new Float64Array(n), action: new Uint16Array(n), risk: new Float64Array(n),
    surest: new Float64Array(n), seen: new Float64Array(n), done: new Uint16Array(n),
    decided: null, order: new Int32Array(n), drag: noDrag(),
  };
}

/**
 * Costs (K × K) as the pass over rows takes them. What an action costs is compared with what the others do, so that
 * of each true class the most usual cost can be taken off: what is left is a diagonal and, of few costs that were
 * changed by hand, few cells. `plain` is zero-one; `columns` are the costs by action.
 */
function priced(costs) {
  const K = costs.length, flat = new Float64Array(K * K), columns = new Float64Array(K * K), diagonal = new Float64Array(K);
  const cells = [];
  let plain = true, size = 0;
  for (let k = 0; k < K; k++) {
    const times = new Map();
    for (let a = 0; a < K; a++) if (a !== k) times.set(costs[k][a], (times.get(costs[k][a]) ?? 0) + 1);
    const usual = [...times].reduce((best, each) => (each[1] > best[1] ? each : best), [0, 0])[0];
    for (let a = 0; a < K; a++) {
      const cost = costs[k][a];
      flat[k * K + a] = columns[a * K + k] = cost;
      plain = plain && cost === (k === a ? 0 : 1);
      size = Math.max(size, Math.abs(cost));
      if (a === k) diagonal[k] = cost - usual;
      else if (cost !== usual) cells.push([k, a, cost - usual]);
    }
  }
  // The cells action by action, so that each action's sum stays in a register.
  cells.sort((one, other) => one[1] - other[1] || one[0] - other[0]);
  const actions = [...new Set(cells.map(cell => cell[1]))], ends = actions.map(a => cells.findLastIndex(cell => cell[1] === a) + 1);
  return {
    flat, columns, diagonal, plain, size, actions: Int32Array.from(actions), ends: Int32Array.from(ends),
    truths: Int32Array.from(cells, cell => cell[0]), extra: Float64Array.from(cells, cell => cell[2]),
  };
}

/**
 * Weights, cheapest actions and expected costs under a setting; left in the arrays of `rows`, and worked out again
 * only where class frequencies, costs or the class looked at have changed.
 */
export function decide(rows, setting, old, observed) {
  const key = `${setting.priors}|${setting.costs}|${setting.positive}`;
  if (rows.decided?.key === key) return rows.decided;
  const { K } = rows, { priors } = setting, prices = priced(setting.costs), scaled = scaledBy(priors, old, K);
  // What depends on class frequencies and the class looked at alone is kept while costs change.
  const but = `${priors}|${setting.positive}`, before = rows.decided, same = before?.but === but;
  const { likelier, total } = same ? before : countedUnder(rows, priors, observed);
  const moved = same ? movedCell(before.costs, setting.costs) : null;
  const again = moved !== null && String(moved) === String(before.moved), pass = K === 2 ? ofTwo : prices.plain ? likeliest : cheapest;
  // The second time that the same cost is moved a hand is dragging it. What is held stays right until something else changes.
  const held = again ? before.held ?? heldOf(rows, moved, prices, scaled) : null;
  const others = keptWhileDragged(rows.drag, prices.plain && !held ? priors : null, setting.positive, k => othersOf(rows, k, setting.positive, scaled));
  const high = held ? withOneCost(rows, held, moved, prices, scaled)
    : others ? passWithOthers(rows, others, scaled.ratio[others.k], i => (K === 2 ? likelierOfTwo : likeliestOf)(rows, i, scaled, setting.positive, prices.flat))
      : pass(rows, scaled, setting.positive, prices);
  rows.decided = { key, but, costs: setting.costs, moved, held, flat: prices.flat, plain: prices.plain, likelier, high, total, scaled,
    sure: same && before.sure, byPosterior: same ? before.byPosterior : null, spread: null, byCost: null };
  return rows.decided;
}

/** Rows count as often as their class is met: by how much more than among the rows, and the weight of all. */
function countedUnder({ n, K, codes, weight, counts }, priors, observed) {
  const likelier = new Float64Array(K).fill(1);
  if (priors) for (let k = 0; k < K; k++) likelier[k] = observed[k] > 0 ? priors[k] / observed[k] : 0;
  let total = 0;
  for (let i = 0; i < n; i++) total += counts[i] = weight[i] * likelier[codes[i]];
  return { likelier, total };
}

/** What is kept of each row while one cost moves. */
function heldOf(rows, moved, { columns, size }, scaled) {
  const posteriorsAt = i => { const sum = unscaled(rows, i, scaled); return { part: scaled.share, sum }; };
  return heldCosts(rows, moved, columns, posteriorsAt, CLOSE * size);
}

function withOneCost(rows, held, [truth, action], { flat, columns, size }, scaled) {
  const { K } = rows, cost = new Float64Array(K), unsure = CLOSE * size;
  const fully = i => {
    const sum = unscaled(rows, i, scaled), { share } = scaled;
    for (let a = 0; a < K; a++) {
      cost[a] = 0;
      for (let k = 0; k < K; k++) cost[a] += share[k] * columns[a * K + k];
    }
    rows.action[i] = leastOf(cost, share, flat, unsure * sum);
    rows.risk[i] = cost[rows.action[i]] / sum;
  };
  return passWithHeld(rows, held, action, flat[truth * K + action], unsure, fully);
}

/** How posteriors are scaled under other class frequencies, and room for those of a row. */
export function scaledBy(priors, old, K) {
  const ratio = new Float64Array(K).fill(1);
  if (priors) for (let k = 0; k < K; k++) ratio[k] = old[k] > 0 ? priors[k] / old[k] : 0;
  return { priors, ratio, share: new Float64Array(K) };
}

/** Posteriors of a row under the class frequencies in use, times their sum, which is returned. */
function unscaled(rows, i, { priors, ratio, share }) {
  const { K, posterior } = rows;
  let sum = 0;
  for (let k = 0, at = i * K; k < K; k++, at++) sum += share[k] = posterior[at] * ratio[k];
  if (!priors) return 1; // they sum to one already
  if (sum > 0) return sum;
  for (let k = 0; k < K; k++) share[k] = priors[k];
  return 1;
}

/** Posteriors of one row under the class frequencies in use. */
export function posteriorsOfRow(rows, i, scaled = rows.decided.scaled) {
  const sum = unscaled(rows, i, scaled);
  return Array.from(scaled.share, part => part / sum);
}

// Both passes begin with the answer that a row had at the setting before: while a slider moves, nearly all rows keep
// theirs, and a branch that goes the same way every time costs nothing. The answer does not depend on where it began.

/** The pass over rows where every mistake costs one: the likeliest class; returns the largest expected cost. */
function likeliest(rows, scaled, positive) {
  const { n, K, posterior, action, risk, seen } = rows, { priors, ratio, share } = scaled;
  let high = 0;
  for (let i = 0, at = 0; i < n; i++) {
    const best = action[i];
    let others = 0, beaten = false;
    for (let k = 0; k < K; k++, at++) share[k] = posterior[at] * ratio[k];
    const top = share[best];
    share[best] = 0; // so that nothing need be left out of the sum of the others
    for (let k = 0; k < K; k++) {
      const p = share[k];
      others += p;
      if (p >= top) beaten = true;
    }
    share[best] = top;
    if (beaten) likeliestOf(rows, i, scaled, positive);
    else {
      const scale = priors ? 1 / (top + others) : 1;
      risk[i] = others * scale;
      seen[i] = share[positive] * scale;
    }
    if (risk[i] > high) high = risk[i];
  }
  return high;
}

/** The same of one row, whatever its answer was. */
function likeliestOf(rows, i, scaled, positive) {
  const { K, action, risk, seen } = rows, { share } = scaled, sum = unscaled(rows, i, scaled);
  let best = 0, others = 0;
  for (let k = 1; k < K; k++) {
    if (share[k] > share[best]) { others += share[best]; best = k; } else others += share[k];
  }
  action[i] = best;
  risk[i] = others / sum;
  seen[i] = share[positive] / sum;
}

/** The same of two classes; where rounding could decide, the answer that the pass over rows of two classes gives, too. */
function likelierOfTwo(rows, i, scaled, positive, flat) {
  likeliestOf(rows, i, scaled, positive);
  const best = firstOfEquals(scaled.share, flat, 2);
  if (best === rows.action[i]) return;
  rows.action[i] = best;
  rows.risk[i] = 1 - rows.risk[i];
}

/** The pass over rows of two classes, for any costs, without inner loops; returns the largest expected cost, or zero. */
function ofTwo(rows, scaled, positive, { columns, flat, size }) {
  const { n, posterior, action, risk, seen } = rows, { priors, ratio, share } = scaled;
  const [c00, c01, c10, c11] = flat, r0 = ratio[0], r1 = ratio[1], unsure = CLOSE * size;
  let high = 0;
  for (let i = 0; i < n; i++) {
    let u0 = posterior[2 * i] * r0, u1 = posterior[2 * i + 1] * r1, sum = u0 + u1, best = action[i];
    if (!(sum > 0)) {
      sum = unscaled(rows, i, scaled);
      u0 = share[0];
      u1 = share[1];
    }
    // How much more the other answer would cost.
    const more = (u0 * (c01 - c00) + u1 * (c11 - c10)) * (1 - 2 * best);
    if (!(more > unsure * sum)) {
      share[0] = u0;
      share[1] = u1;
      best = more < -unsure * sum ? 1 - best : firstOfEquals(share, flat, 2);
    }
    const scale = priors ? 1 / sum : 1, own = (u0 * columns[2 * best] + u1 * columns[2 * best + 1]) * scale;
    action[i] = best;
    risk[i] = own;
    seen[i] = (positive ? u1 : u0) * scale;
    if (own > high) high = own;
  }
  return high;
}

/** The pass over rows for any costs; returns the largest expected cost, or zero. */
function cheapest(rows, scaled, positive, prices) {
  const { columns, diagonal, actions, ends, truths, extra, flat, size } = prices;
  const { n, K, posterior, action, risk, seen } = rows, { priors, ratio, share } = scaled;
  const cost = new Float64Array(K), changed = actions.length, unsure = CLOSE * size;
  let high = 0;
  for (let i = 0, at = 0; i < n; i++) {
    let sum = 0, best = action[i], beaten = false;
    for (let k = 0; k < K; k++, at++) {
      const p = share[k] = posterior[at] * ratio[k];
      sum += p;
      cost[k] = p * diagonal[k];
    }
    if (!(sum > 0)) {
      sum = unscaled(rows, i, scaled);
      for (let k = 0; k < K; k++) cost[k] = share[k] * diagonal[k];
    }
    for (let j = 0, cell = 0; j < changed; j++) {
      let more = cost[actions[j]];
      for (const end = ends[j]; cell < end; cell++) more += share[truths[cell]] * extra[cell];
      cost[actions[j]] = more;
    }
    const least = cost[best], limit = least + unsure * sum;
    cost[best] = Infinity;
    let spent = 0;
    for (let k = 0, cell = best * K; k < K; k++, cell++) {
      spent += share[k] * columns[cell];
      if (cost[k] <= limit) beaten = true;
    }
    if (beaten) {
      cost[best] = least;
      best = leastOf(cost, share, flat, unsure * sum);
      spent = 0;
      for (let k = 0, cell = best * K; k < K; k++, cell++) spent += share[k] * columns[cell];
    }
    const scale = priors ? 1 / sum : 1, own = spent * scale;
    action[i] = best;
    risk[i] = own;
    seen[i] = share[positive] * scale;
    if (own > high) high = own;
  }
  return high;
}

/** The action of the least cost; of some that are nearly equal the one that the library chooses. */
function leastOf(cost, share, flat, unsure) {
  let best = 0, second = Infinity;
  for (let a = 1; a < cost.length; a++) {
    if (cost[a] < cost[best]) { second = cost[best]; best = a; } else if (cost[a] < second) second = cost[a];
  }
  return second - cost[best] > unsure ? best : firstOfEquals(share, flat, cost.length);
}

/**
 * The largest posterior of every row; worked out once for class frequencies, and only where a rule asks for it. Where every
 * mistake costs one it is one less the expected cost, and nobody asks.
 */
export function surestOf(rows) {
  const { n, K, posterior, surest, decided } = rows, { scaled } = decided, { ratio, share } = scaled;
  if (decided.sure) return surest;
  for (let i = 0, at = 0; i < n; i++) {
    let sum = 0, top = 0;
    for (let k = 0; k < K; k++, at++) {
      const p = posterior[at] * ratio[k];
      sum += p;
      if (p > top) top = p;
    }
    if (sum > 0) surest[i] = scaled.priors ? top / sum : top;
    else {
      unscaled(rows, i, scaled);
      surest[i] = Math.max(...share);
    }
  }
  decided.sure = true;
  return surest;
}

/** The cheapest action where rounding could decide: actions compared in pairs, relative to the likeliest class. */
function firstOfEquals(share, flat, K) {
  let best = 0;
  for (let a = 1; a < K; a++) {
    let top = 0, total = 0, size = 0;
    for (let k = 0; k < K; k++) if (flat[k * K + a] !== flat[k * K + best]) top = Math.max(top, share[k]);
    if (!(top > 0)) continue;
    for (let k = 0; k < K; k++) {
      const term = (share[k] / top) * (flat[k * K + a] - flat[k * K + best]);
      total += term;
      size += Math.abs(term);
    }
    if (total < -SAME * size) best = a;
  }
  return best;
}

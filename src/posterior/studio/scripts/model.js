// A fitted model, from its own parameters: what each column adds to the score of each class. A cell is a number,
// the code of a level (the number of levels for one that training has not seen), or null for a gap.
import { LOG_2PI, cholesky, dot, factorSolve, logDeterminant, logSoftmax } from "./maths.js";

const logOf = value => (value === "-inf" ? -Infinity : value);

// Log densities of one column, up to what all classes share, by family. Null means that the cell is outside
// of the support of every class: it then says nothing, as a gap.
const DENSITIES = {
  normal: (f, x) => f.scale.map((scale, k) => {
    const z = (x - f.pivot[k] - f.remainder[k]) / scale;
    return f.level[k] - 0.5 * z * z;
  }),
  log_normal: (f, x) => (x > 0 ? DENSITIES.normal(f.normal, Math.log(x)) : null),
  laplace: (f, x) => f.scale.map((scale, k) => f.level[k] - Math.abs(x - f.location[k]) / scale),
  student_t: (f, x) => f.scale.map((scale, k) => {
    const t = Math.abs((x - f.pivot[k] - f.remainder[k]) / scale);
    return f.level[k] - f.power[k] * (t > 1e8 ? 2 * Math.log(t) : Math.log1p(t * t));
  }),
  exponential: (f, x) => (x >= 0 ? f.mean.map(mean => -Math.log(mean) - x / mean) : null),
  gamma: (f, x) => (x > 0 ? f.shape.map((shape, k) => {
    const d = (x - f.mean[k]) / f.mean[k];
    const excess = Math.abs(d) < 0.5 ? Math.log1p(d) - d : Math.log(x / f.mean[k]) - d;
    return shape * excess + f.level[k];
  }) : null),
  // Logarithms over the mean rate, and what rates exceed it by.
  poisson: (f, x) => (x >= 0 && Number.isInteger(x)
    ? f.excess.map((excess, k) => (x > 0 ? x * logOf(f.logs[k]) : 0) - excess) : null),
  // ln Γ(x + r) / Γ(r) is a sum over the counts below x; x! is the same for all classes.
  negative_binomial: (f, x) => (x >= 0 && Number.isInteger(x) ? f.mean.map((mean, k) => {
    const spread = f.dispersion[k];
    if (mean === 0) return x > 0 ? -Infinity : 0;
    if (spread === 0) return x * Math.log(mean) - mean;
    const r = 1 / spread;
    let sum = -r * Math.log1p(mean / r) + x * (Math.log(mean) - Math.log(mean + r));
    for (let i = 0; i < x; i++) sum += Math.log(r + i);
    return sum;
  }) : null),
  beta: (f, x) => (x > 0 && x < 1 ? f.alpha.map((a, k) => {
    const b = f.beta[k];
    return a * (Math.log(x) - Math.log(a / (a + b))) + b * (Math.log1p(-x) - Math.log(b / (a + b))) + f.level[k];
  }) : null),
  bernoulli: (f, x) => (x > f.cut ? f.on : f.off).map(logOf),
  histogram: (f, x) => {
    let bin = 0;
    while (bin < f.edges.length && x >= f.edges[bin]) bin++;
    return f.share.map(row => logOf(row[bin]));
  },
  categorical: (f, code) => f.table.map(row => logOf(row[Math.min(code, row.length - 2)])),
};

/**
 * A Gaussian block: quadratic functions of the cells that are there about the middle of the class means, mixed
 * terms shared evenly by their two columns. Gives the log density at the middle, and terms by column (d × K).
 */
function gaussianTerms(block, cells) {
  const K = block.pivot.length, there = [];
  for (let j = 0; j < cells.length; j++) if (cells[j] !== null) there.push(j);
  const every = cells.map((_, j) => j), middle = every.map(j => centreOf(block, j));
  const base = quadratics(block, every, middle).map(q => q.constant);
  const terms = cells.map(() => new Array(K).fill(0));
  if (!there.length) return { base, terms: terms.map(row => row.map((_, k) => -base[k] / cells.length)) };
  const forms = quadratics(block, there, middle);
  for (let k = 0; k < K; k++) {
    const { linear, constant, factor } = forms[k];
    const z = there.map(j => cells[j] - middle[j].pivot - middle[j].remainder);
    const pull = factorSolve(factor, z);
    there.forEach((j, i) => {
      terms[j][k] = z[i] * (linear[i] - 0.5 * pull[i]) + (constant - base[k]) / there.length;
    });
  }
  return { base, terms };
}

/** The average of the class means of a column, as a number and a small remainder, so that offsets cost no digits. */
function centreOf(block, j) {
  const pivot = block.pivot[0][j], K = block.pivot.length;
  let sum = 0;
  for (let k = 0; k < K; k++) {
    sum += (block.pivot[k][j] - pivot) + (block.remainder[k][j] - block.remainder[0][j]);
  }
  return { pivot, remainder: block.remainder[0][j] + sum / K };
}

/** Of each class: the linear part and the constant of its log density about the middle, and its factor. */
function quadratics(block, columns, middle) {
  const factors = block.covariance.map(S => cholesky(columns.map(i => columns.map(j => S[i][j]))));
  return block.pivot.map((pivot, k) => {
    const factor = factors[factors.length === 1 ? 0 : k];
    const apart = columns.map(j => (pivot[j] - middle[j].pivot) + (block.remainder[k][j] - middle[j].remainder));
    const linear = factorSolve(factor, apart);
    const constant = -0.5 * (dot(apart, linear) + logDeterminant(factor) + columns.length * LOG_2PI);
    return { linear, constant, factor };
  });
}

/** Terms of a generative model; `fixed` are those of columns that are worked out elsewhere, by place. */
function generativeTerms(model, cellOf, fixed) {
  const K = model.logPrior.length, terms = [{ name: "prior", values: model.logPrior.map(logOf) }];
  const baseline = new Array(K).fill(0), byColumn = new Map();
  const add = (place, values) => {
    const sum = byColumn.get(place) ?? new Array(K).fill(0);
    byColumn.set(place, sum.map((value, k) => value + values[k]));
  };
  let gaussian = false;
  for (const block of model.blocks) {
    const w = block.weight, cells = block.columns.map(cellOf);
    if (!(w > 0)) continue;
    if (block.family === "multivariate_normal") {
      const found = gaussianTerms(block, cells);
      gaussian = true;
      for (let k = 0; k < K; k++) baseline[k] += w * found.base[k];
      block.columns.forEach((place, j) => add(place, found.terms[j].map(value => w * value)));
    } else {
      const values = cells[0] === null ? null : DENSITIES[block.family](block, cells[0]);
      add(block.columns[0], values === null ? new Array(K).fill(0) : values.map(value => w * value));
    }
  }
  for (const [place, values] of Object.entries(fixed)) add(Number(place), values.map(logOf));
  if (gaussian) terms.push({ name: "baseline", values: baseline });
  for (const place of [...byColumn.keys()].sort((a, b) => a - b)) terms.push({ place, values: byColumn.get(place) });
  return terms;
}

/** Terms of a linear model: Σ coef (x − centre) over all that is made of a column, then products of two. */
function linearTerms(model, cellOf) {
  const K = model.level.length, byColumn = new Map(), pairs = [];
  const add = (place, values) => {
    const sum = byColumn.get(place) ?? new Array(K).fill(0);
    byColumn.set(place, sum.map((value, k) => value + values[k]));
  };
  for (const part of model.numbers) {
    const cell = cellOf(part.column), x = cell === null ? part.fill : cell;
    add(part.column, part.coef.map(coef => coef * (x - part.centre)));
    if (part.mark) add(part.column, part.mark.map(coef => coef * ((cell === null ? 1 : 0) - part.markCentre)));
  }
  for (const part of model.factors) {
    const code = cellOf(part.column);
    add(part.column, part.table.map(row => (code === null ? row[row.length - 1] : row[Math.min(code, row.length - 2)])));
  }
  const z = model.numbers.map(part => {
    const cell = cellOf(part.column);
    return (cell === null ? part.fill : cell) - (part.middle ?? 0);
  });
  for (const { of: [i, j], coef, centre } of model.products) {
    const values = coef.map(c => c * (z[i] * z[j] - centre));
    if (i === j) add(model.numbers[i].column, values);
    else pairs.push({ places: [model.numbers[i].column, model.numbers[j].column], values });
  }
  const single = [...byColumn.keys()].sort((a, b) => a - b).map(place => ({ place, values: byColumn.get(place) }));
  return [{ name: "baseline", values: model.level }, ...single, ...pairs];
}

/** What each column says of a row: terms with a value for each class. `cellOf` gives the cell of a place. */
export function termsOf(model, cellOf, fixed = {}) {
  return model.kind === "linear" ? linearTerms(model, cellOf) : generativeTerms(model, cellOf, fixed);
}

/** Log posteriors from the terms of a row; a row that no class can have gets the priors. */
export function posteriorOf(model, terms) {
  const K = terms[0].values.length, scores = new Array(K).fill(0);
  for (const term of terms) for (let k = 0; k < K; k++) scores[k] += term.values[k];
  const possible = scores.some(score => score > -Infinity);
  const logs = logSoftmax(possible ? scores : terms[0].values);
  return model.adjust ? adjusted(model.adjust, logs) : logs;
}

/** Log posteriors brought to the class frequencies of the rows held out, and calibrated there. */
function adjusted({ shift, weight, bias }, logs) {
  const observed = shift ? logSoftmax(logs.map((log, k) => log + shift[k])) : logs;
  return logSoftmax(observed.map((log, k) => (log === -Infinity ? log : weight[k] * log + bias[k])));
}

/** Log posteriors under other class frequencies: divided by the old, multiplied by the new. */
export function shifted(logs, old, priors) {
  if (!priors) return logs;
  return logSoftmax(logs.map((log, k) => (priors[k] > 0 ? log + Math.log(priors[k]) - Math.log(old[k]) : -Infinity)));
}

/** Whether the page can work the model out, cells of a column changed included. */
export function canChange(model, place) {
  if (model.why) return false;
  if (model.kind === "linear") return [...model.numbers, ...model.factors].some(part => part.column === place);
  return model.blocks.some(block => block.columns.includes(place));
}

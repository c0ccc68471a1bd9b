// The setting of a page: class frequencies, costs, rejecting, outliers, the class looked at, the row picked. It is
// written into the address, so that a link to the file keeps it, and read back with everything checked.

/** What every mistake costs unless somebody says otherwise. */
export function zeroOne(K) {
  return Array.from({ length: K }, (_, k) => Array.from({ length: K }, (_, a) => (k === a ? 0 : 1)));
}

/** Where a page begins. */
export function firstSetting(data) {
  const given = data.settings, K = data.classes.length;
  const [rule, number] = given.reject ?? [];
  return {
    priors: data.old && given.priors ? tidy(given.priors) : null,
    costs: given.costs ? given.costs.map(row => row.slice()) : zeroOne(K),
    reject: given.reject ? [rule, number] : null,
    look: rule === "cost" ? number : 0.1,
    day: [50, 1000],
    capacity: false,
    outliers: given.outliers ?? 0,
    positive: K - 1,
    row: 0,
  };
}

const number = text => (text.trim() === "" ? NaN : Number(text));

/** A setting as the part of an address behind the #; only what is not as it was at first. */
export function settingToHash(setting, first) {
  const parts = [];
  const add = (key, value, usual) => { if (String(value) !== String(usual)) parts.push(`${key}=${value}`); };
  add("p", setting.priors ? setting.priors.join(",") : "", first.priors ? first.priors.join(",") : "");
  add("c", setting.costs.map(row => row.join(",")).join(";"), first.costs.map(row => row.join(",")).join(";"));
  add("r", setting.reject ? setting.reject.join(":") : "", first.reject ? first.reject.join(":") : "");
  add("look", setting.look, first.look);
  add("day", setting.capacity ? setting.day.join(":") : "", first.capacity ? first.day.join(":") : "");
  add("o", setting.outliers, first.outliers);
  add("k", setting.positive, first.positive);
  add("row", setting.row, first.row);
  return parts.join("&");
}

/** A setting from an address; what is not as it should be is left as it was at first. */
export function settingFromHash(hash, first, data) {
  const K = data.classes.length, setting = structuredClone(first);
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const has = key => given.has(key);
  if (has("p") && data.old) {
    const priors = given.get("p") === "" ? null : given.get("p").split(",").map(number);
    if (priors === null) setting.priors = null;
    else if (priors.length === K && priors.every((p, k) => p >= 0 && (data.old[k] > 0 || p === 0))) {
      const sum = priors.reduce((a, b) => a + b, 0);
      if (sum > 0) setting.priors = tidy(priors.map(p => p / sum));
    }
  }
  if (has("c")) {
    const costs = given.get("c").split(";").map(row => row.split(",").map(number));
    if (costs.length === K && costs.every(row => row.length === K && row.every(Number.isFinite))) setting.costs = costs;
  }
  if (has("r")) {
    const [rule, text] = given.get("r").split(":"), value = number(text ?? "");
    const share = ["threshold", "coverage"].includes(rule) && value > 0 && value <= 1;
    setting.reject = share || (rule === "cost" && Number.isFinite(value)) ? [rule, value] : null;
  }
  if (has("day")) {
    const [looks, cases] = given.get("day").split(":").map(number);
    setting.capacity = looks >= 0 && cases > 0;
    if (setting.capacity) setting.day = [looks, cases];
  }
  if (has("look") && Number.isFinite(number(given.get("look")))) setting.look = number(given.get("look"));
  if (has("o") && number(given.get("o")) >= 0 && number(given.get("o")) < 1) setting.outliers = number(given.get("o"));
  for (const [key, name, most] of [["k", "positive", K], ["row", "row", Math.max(data.shown.rows.length, 1)]]) {
    const value = number(given.get(key) ?? "");
    if (Number.isInteger(value) && value >= 0 && value < most) setting[name] = value;
  }
  if (setting.capacity) setting.reject = ["coverage", coverageOf(setting.day)];
  return setting;
}

/** The share of rows that is answered where so many of so many can be looked at; six decimals, as limits need. */
export function coverageOf([looks, cases]) {
  return Math.min(1, Math.max(1e-6, Math.round(1e6 * (1 - looks / cases)) / 1e6));
}

/** Class frequencies in which one class has a given share, and the others keep their proportions exactly; they are made tidy at rest. */
export function withShare(priors, k, share) {
  const p = Math.min(Math.max(share, 0), 1), rest = 1 - priors[k], others = priors.length - 1;
  return priors.map((prior, j) => {
    if (j === k) return p;
    return rest > 0 ? prior / rest * (1 - p) : (1 - p) / others;
  });
}

/** Shares of nine decimals that sum to one, the largest taking up the rounding: what a command can say exactly. */
export function tidy(priors) {
  const units = priors.map(p => Math.round(p * 1e9)), largest = units.indexOf(Math.max(...units));
  units[largest] += 1e9 - units.reduce((a, b) => a + b, 0);
  return units.map(unit => unit / 1e9);
}

/** Six digits, which is what a person can mean. */
export function round(value, digits = 6) {
  return Number(value.toPrecision(digits));
}

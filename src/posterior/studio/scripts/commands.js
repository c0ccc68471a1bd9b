// The setting of a page as the command and the Python lines that do the same.

/** A word as a shell takes it. */
export function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** Costs that are not those of zero-one, by class and action. */
function changedCosts(setting) {
  const found = [];
  setting.costs.forEach((row, k) => row.forEach((cost, a) => {
    if (cost !== (k === a ? 0 : 1)) found.push([k, a, cost]);
  }));
  return found;
}

/** Names that stand in the way of "name=number,…"; then costs and priors are easier to give in Python. */
const awkward = names => names.some(name => /[,:=]/.test(name) || name.trim() !== name || name === "");

/** The command that predicts as the page decides; null where names of classes cannot be written in one. */
export function predictCommand(data, setting) {
  const { written, names } = data, changed = changedCosts(setting);
  const words = ["posterior", "predict", names.model || "model.posterior", names.rows || "NEW.csv", "-o", "decided.csv"];
  if ((setting.priors || changed.length) && awkward(written)) return null;
  if (setting.priors) words.push("--priors", setting.priors.map((p, k) => `${written[k]}=${p}`).join(","));
  if (changed.length) words.push("--costs", changed.map(([k, a, cost]) => `${written[k]}:${written[a]}=${cost}`).join(","));
  if (setting.reject) words.push("--reject", `${setting.reject[0]}=${setting.reject[1]}`);
  if (setting.outliers) words.push("--outliers", String(setting.outliers));
  return words.map(quoted).join(" ");
}

/** The command that makes the model file first, where the page was made of a table. */
export function fitCommand(data) {
  const { names } = data;
  if (!names.data || names.model) return null;
  const words = ["posterior", "fit", names.data];
  if (names.target) words.push("-t", names.target);
  if (names.name) words.push("-m", names.name);
  return [...words, "-o", "model.posterior"].map(quoted).join(" ");
}

/** The same in Python. */
export function pythonLines(data, setting) {
  const { literals, names } = data, lines = [];
  if (setting.priors) {
    lines.push(`priors={${setting.priors.map((p, k) => `${literals[k]}: ${p}`).join(", ")}},`);
  }
  if (changedCosts(setting).length) {
    lines.push("costs={");
    setting.costs.forEach((row, k) => {
      lines.push(`    ${literals[k]}: {${row.map((cost, a) => `${literals[a]}: ${cost}`).join(", ")}},`);
    });
    lines.push("},");
  }
  if (setting.reject) lines.push(`reject={"${setting.reject[0]}": ${setting.reject[1]}},`);
  if (setting.outliers) lines.push(`outliers=${setting.outliers},`);
  const load = `model = posterior.load(${JSON.stringify(names.model || "model.posterior")})`;
  const decide = lines.length ? ["model.set_decision(", ...lines.map(line => `    ${line}`), ")"] : [];
  return ["import posterior", "", load, ...decide, "actions = model.predict(rows)"].join("\n");
}

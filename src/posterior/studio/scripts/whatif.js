// What one column by itself would do to a row, and the nearest row that is answered otherwise.
import { LineChart, PosteriorBars } from "./charts.js";
import { classColour, element, freshId, percent, shownNumber } from "./elements.js";
import { canChange } from "./model.js";

const POINTS = 120, MOST_CLASSES = 6, MOST_LEVELS = 30, MOST_CELLS = 5;

/** Numbers of a column among the rows that are shown: from the least to the largest, whole ones where the column is. */
export function valuesAcross(column, cells, own) {
  const there = cells.filter(cell => cell !== null);
  if (own !== null) there.push(own);
  if (!there.length) return [];
  const low = there.reduce((a, b) => Math.min(a, b)), high = there.reduce((a, b) => Math.max(a, b));
  if (!(high > low)) return [low];
  const whole = column.whole && high - low <= 2 * POINTS;
  const steps = whole ? Math.round(high - low) : POINTS;
  return Array.from({ length: steps + 1 }, (_, t) => (column.whole ? Math.round(low + (high - low) * t / steps) : low + (high - low) * t / steps));
}

/**
 * How far apart two rows are: the mean over columns of |a − b| / range for numbers, and of 0 or 1 for levels; columns
 * with a gap in either row are left out (Gower 1971). NaN where no column is left.
 */
export function gowerDistance(columns, cells, ranges, one, other) {
  let sum = 0, counted = 0;
  for (let j = 0; j < columns.length; j++) {
    const a = cells[j][one], b = cells[j][other];
    if (a === null || b === null) continue;
    counted += 1;
    if (columns[j].levels) sum += a === b ? 0 : 1;
    else if (ranges[j] > 0) sum += Math.abs(a - b) / ranges[j];
  }
  return counted ? sum / counted : NaN;
}

/** The posterior of a row against the value of one of its columns, all other cells as they are. */
export class ColumnLine {
  constructor(explorer) {
    this.explorer = explorer;
    const { model } = explorer.data, id = freshId("column");
    this.columns = model.columns.filter(column => canChange(model, column.place));
    this.place = (this.columns.find(column => !column.levels) ?? this.columns[0])?.place ?? null;
    this.body = element("div");
    const chooser = element("select", { id, onchange: event => { this.place = Number(event.target.value); this.show(); } },
      this.columns.map(column => element("option", { value: column.place, selected: column.place === this.place }, column.name)));
    this.node = element("div", { class: "whatif" }, element("h4", null, "What one column would do, the other cells as they are"),
      element("p", { class: "inline" }, element("label", { for: id }, "Column: "), chooser), this.body);
    this.node.hidden = !this.columns.length;
  }

  /** Log posteriors with another value in the column. */
  at(value) {
    const { explorer, place } = this;
    return explorer.worked(other => (other === place ? value : explorer.cellOf(other))).logs;
  }

  show() {
    const { explorer, place } = this, column = this.columns.find(each => each.place === place);
    if (!column) return;
    const own = explorer.cellOf(place);
    if (column.levels) { this.body.replaceChildren(...this.byLevel(column, own)); return; }
    const values = valuesAcross(column, explorer.data.shown.cells?.[explorer.places.get(place)] ?? [], own);
    if (values.length < 2) { this.body.replaceChildren(element("p", { class: "aside" }, "This column has one value in these rows.")); return; }
    const { classes } = explorer.data, logs = values.map(value => this.at(value)), now = this.at(own);
    const shown = classes.map((_, k) => k).sort((a, b) => now[b] - now[a] || a - b).slice(0, MOST_CLASSES).sort((a, b) => a - b);
    const chart = new LineChart({ title: column.name, xLabel: column.name.length > 40 ? "value of the cell" : column.name, yLabel: "posterior",
      series: shown.map(k => ({ name: classes[k], colour: classColour(k), dashed: k % 2 === 1 })) });
    chart.setFrame(values[0], values[values.length - 1], 0, 1);
    shown.forEach((k, which) => chart.setLine(which, values, logs.map(each => Math.exp(each[k]))));
    chart.mark(own, "this row");
    this.values = values;
    this.logs = logs;
    this.body.replaceChildren(chart.node, ...(shown.length < classes.length ? [element("p", { class: "aside" }, `The ${shown.length} classes that are likeliest for this row, of ${classes.length}.`)] : []));
  }

  /** A bar for each level: the posterior of the class whose log odds are shown. */
  byLevel(column, own) {
    const { explorer } = this, some = column.levels.slice(0, MOST_LEVELS), k = explorer.of;
    const bars = new PosteriorBars(some.map((level, code) => (code === own ? `${level} (this row)` : level)), () => classColour(k));
    bars.set(some.map((_, code) => Math.exp(this.at(code)[k])));
    const words = element("p", { class: "aside" }, "Posterior of ", element("bdi", null, explorer.data.classes[k]),
      some.length < column.levels.length ? `; the first ${MOST_LEVELS} of ${column.levels.length} levels` : "");
    return [words, bars.node];
  }
}

/** The nearest of the rows shown that gets another answer at this setting. */
export class NearestRow {
  constructor(explorer) {
    this.explorer = explorer;
    this.node = element("div", { class: "nearest" });
    const { model, shown } = explorer.data;
    this.ranges = model.columns.map((_, j) => {
      const there = (shown.cells?.[j] ?? []).filter(cell => typeof cell === "number");
      return there.length ? there.reduce((a, b) => Math.max(a, b)) - there.reduce((a, b) => Math.min(a, b)) : 0;
    });
  }

  /** Its place among the rows shown and its distance; null where all rows get the same answer. */
  find() {
    const { data, studio } = this.explorer, { rows, cells } = data.shown, { done } = studio.found, own = studio.setting.row;
    let best = null;
    rows.forEach((i, s) => {
      if (done[i] === done[rows[own]]) return;
      const distance = gowerDistance(data.model.columns, cells, this.ranges, own, s);
      if (best === null ? !Number.isNaN(distance) : distance < best.distance) best = { s, distance };
    });
    return best;
  }

  show() {
    const { data, studio } = this.explorer, { rows, cells } = data.shown;
    this.node.hidden = !rows.length || !cells;
    if (this.node.hidden) return;
    const found = this.find(), heading = element("h4", null, "The nearest row that is answered otherwise");
    if (!found) { this.node.replaceChildren(heading, element("p", { class: "aside" }, "Every row shown gets this answer at this setting.")); return; }
    const own = studio.setting.row, i = rows[found.s], answers = [...data.classes, ...data.labels];
    const apart = data.model.columns.map((column, j) => {
      const a = cells[j][own], b = cells[j][found.s];
      return { column, a, b, d: a === null || b === null ? 0 : column.levels ? Number(a !== b) : this.ranges[j] > 0 ? Math.abs(a - b) / this.ranges[j] : 0 };
    }).filter(each => each.d > 0).sort((x, y) => y.d - x.d);
    const cell = (column, value) => element("bdi", null, column.levels ? column.levels[value] ?? "(new)" : shownNumber(value, Number.isInteger(value) ? 0 : 2));
    this.node.replaceChildren(heading,
      element("p", null, element("button", { type: "button", onclick: () => this.explorer.pick(found.s) }, `Look at row ${i + 1}`), " said ",
        element("bdi", null, answers[studio.found.done[i]]), ", is ", element("bdi", null, data.classes[studio.rows.codes[i]]),
        `; apart by ${percent(found.distance)} of the range of a column, on average. `,
        apart.length ? "Most apart: " : "The cells are the same: the models of their folds differ.",
        apart.slice(0, MOST_CELLS).flatMap(({ column, a, b }, n) => [n ? "; " : "", element("bdi", null, column.name), " ", cell(column, a), " → ", cell(column, b)])));
  }
}

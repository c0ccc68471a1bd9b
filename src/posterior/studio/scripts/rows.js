// Rows to look at: pick one, see what each of its columns says, change a cell and see the posterior move.
import { PosteriorBars } from "./charts.js";
import { posteriorsOfRow, scaledBy } from "./decisions.js";
import { classColour, element, freshId, named, percent, say, shownNumber } from "./elements.js";
import { canChange, posteriorOf, shifted, termsOf } from "./model.js";
import { ColumnLine, NearestRow } from "./whatif.js";

const A_PAGE = 8;
const ORDERS = [["unsure", "most expensive to answer first"], ["mistakes", "costliest mistakes first"], ["rejected", "only rejected"], ["outliers", "only outliers"], ["table", "as in the table"]];

export class RowExplorer {
  constructor(studio) {
    const { data } = studio;
    Object.assign(this, { studio, data, order: "unsure", page: 0, changed: new Map(), against: null, of: null });
    this.places = new Map((data.model.columns ?? []).map((column, j) => [column.place, j]));
    const orderId = freshId("order");
    this.chooser = element("select", { id: orderId, onchange: event => { this.order = event.target.value; this.page = 0; this.showList(); } },
      ORDERS.map(([value, words]) => element("option", { value }, words)));
    this.list = element("tbody");
    this.place = element("span", { class: "aside", "aria-live": "polite" });
    const step = by => () => { this.page += by; this.showList(); };
    this.back = element("button", { type: "button", onclick: step(-1) }, "← before");
    this.next = element("button", { type: "button", onclick: step(1) }, "more →");
    this.detail = element("div", { class: "detail" });
    this.line = data.model.why ? null : new ColumnLine(this);
    this.nearest = data.model.why ? null : new NearestRow(this);
    const several = data.shown.rows.length > 0;
    this.node = element("div", { class: "explorer" },
      several ? element("div", { class: "picker" },
        element("p", { class: "inline" }, element("label", { for: orderId }, "Rows: "), this.chooser),
        element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "rows to pick from" }, element("table", { class: "rows" }, element("thead", null, element("tr", null,
          ["row", "truth", "said", "posterior", "expected cost"].map(head => element("th", { scope: "col" }, head)))), this.list)),
        element("p", { class: "inline" }, this.back, this.next, this.place)) : null,
      this.detail);
  }

  /** Rows of the page in the order asked for, as places among those shown. */
  ordered() {
    const { rows, found } = this.studio, { K, risk, codes } = rows, shown = this.data.shown.rows;
    const costs = this.studio.setting.costs, all = shown.map((_, s) => s);
    const spent = s => { const i = shown[s], what = found.done[i]; return what < K ? costs[codes[i]][what] : -1; };
    if (this.order === "unsure") return all.sort((a, b) => risk[shown[b]] - risk[shown[a]]);
    if (this.order === "mistakes") return all.filter(s => spent(s) > 0 && found.done[shown[s]] !== codes[shown[s]]).sort((a, b) => spent(b) - spent(a) || risk[shown[a]] - risk[shown[b]]);
    if (this.order === "rejected") return all.filter(s => found.done[shown[s]] === K);
    if (this.order === "outliers") return all.filter(s => found.done[shown[s]] === K + 1);
    return all;
  }

  showList() {
    if (!this.data.shown.rows.length) return;
    const { rows, found, setting } = this.studio, { K, codes, risk } = rows, shown = this.data.shown.rows;
    const ordered = this.ordered(), pages = Math.max(1, Math.ceil(ordered.length / A_PAGE));
    this.page = Math.min(Math.max(this.page, 0), pages - 1);
    const part = ordered.slice(this.page * A_PAGE, (this.page + 1) * A_PAGE);
    const lines = part.map(s => ({ s, i: shown[s], what: found.done[shown[s]], picked: s === setting.row,
      posterior: percent(Math.max(...posteriorsOfRow(rows, shown[s]))), cost: shownNumber(risk[shown[s]]) }));
    const key = JSON.stringify([this.page, ordered.length, lines]);
    if (key === this.listed) return; // a list that is made again loses the focus of its buttons
    this.listed = key;
    this.list.replaceChildren(...lines.map(({ s, i, what, picked, posterior, cost }) => {
      const pick = element("button", { type: "button", class: "pick", onclick: () => this.pick(s), "aria-pressed": picked ? "true" : "false" }, String(i + 1));
      return element("tr", { class: `${picked ? "picked" : ""} ${what < K && what !== codes[i] ? "wrong" : ""}`.trim() },
        element("td", null, pick), element("td", null, named(this.data.classes[codes[i]])),
        element("td", null, named([...this.data.classes, ...this.data.labels][what])),
        element("td", { class: "number" }, posterior), element("td", { class: "number" }, cost));
    }));
    if (!part.length) this.list.replaceChildren(element("tr", null, element("td", { colspan: 5, class: "aside" }, "no such row at this setting")));
    this.back.disabled = this.page === 0;
    this.next.disabled = this.page >= pages - 1;
    this.place.textContent = ` ${ordered.length.toLocaleString("en-US")} rows, page ${this.page + 1} of ${pages}`;
  }

  pick(s) {
    this.changed.clear();
    this.of = this.against = null;
    this.studio.change({ row: s });
    this.showRow();
    this.showList();
  }

  /** The cell of a place of the table: as it was changed, or as it came. */
  cellOf(place) {
    if (this.changed.has(place)) return this.changed.get(place);
    return this.ownCell(place);
  }

  ownCell(place) {
    const cells = this.data.shown.cells?.[this.places.get(place)];
    if (cells) return cells[this.studio.setting.row];
    return this.typical(place);
  }

  /** Where no row is in the page: a gap, or the middle of training where the model takes no gaps. */
  typical(place) {
    const { model } = this.data;
    if (model.kind !== "linear" || model.gaps) return null;
    const part = model.numbers.find(each => each.column === place);
    return part ? part.centre : 0;
  }

  fixedTerms() {
    const fixed = this.data.shown.fixed ?? {}, s = this.studio.setting.row;
    return Object.fromEntries(Object.entries(fixed).map(([place, terms]) => [place, terms[s]]));
  }

  /** The row as the model sees it now: its terms, and log posteriors under the class frequencies in use. */
  worked(cellOf = place => this.cellOf(place)) {
    const { model, old } = this.data, terms = termsOf(model, cellOf, this.fixedTerms());
    return { terms, logs: shifted(posteriorOf(model, terms), old, this.studio.setting.priors) };
  }

  showRow() {
    const { data, studio } = this, { model } = data;
    if (model.why) {
      this.detail.replaceChildren(element("p", { class: "aside" }, `What single columns say is not shown: ${model.why}.`));
      return;
    }
    this.held = new PosteriorBars(data.classes);
    this.now = new PosteriorBars(data.classes);
    const some = data.shown.rows.length > 0, i = some ? data.shown.rows[studio.setting.row] : -1;
    const { terms, logs } = this.worked();
    const ranked = logs.map((_, k) => k).sort((a, b) => logs[b] - logs[a] || a - b);
    this.of = this.of ?? ranked[0];
    this.against = this.against ?? ranked.find(k => k !== this.of);
    this.total = element("strong");
    this.lines = new Map();
    const body = element("tbody", null, terms.map(term => this.termRow(term)));
    const reset = element("button", { type: "button", onclick: () => { this.changed.clear(); this.showRow(); } }, "Put the row back as it was");
    this.detail.replaceChildren(
      element("h3", null, some ? `Row ${i + 1}, which is ` : "A row of your own", some ? element("bdi", null, data.classes[studio.rows.codes[i]]) : ""),
      element("div", { class: "two" },
        some ? element("div", null, element("h4", null, "held out, as counted above"), this.held.node) : null,
        element("div", null, element("h4", null, some ? "by the model of all rows, cells as below" : "cells as below"), this.now.node)),
      element("p", { class: "inline" }, "Log odds of ", this.classChooser("of"), " against ", this.classChooser("against"), ": ", this.total),
      element("div", { class: "scroll" }, element("table", { class: "terms" }, element("thead", null, element("tr", null,
        element("th", { scope: "col" }, "column"), element("th", { scope: "col" }, "cell, to be changed"), element("th", { scope: "col" }, "log odds that it adds"))), body)),
      element("p", null, reset), this.line.node, this.nearest.node);
    this.update();
    this.showWhatIf();
  }

  /** What waits until a slider rests: the line of a column, and the nearest row. */
  showWhatIf() {
    if (!this.lines) return;
    this.line.show();
    this.nearest.show();
  }

  classChooser(which) {
    const words = which === "of" ? "log odds of this class" : "against this class";
    return element("select", { "aria-label": words, onchange: event => { this[which] = Number(event.target.value); this.update(); this.line.show(); } },
      this.data.classes.map((name, k) => element("option", { value: k, selected: k === this[which] }, name)));
  }

  termName(term) {
    if (term.name) return term.name === "prior" ? "class frequencies" : "baseline";
    const name = place => this.data.model.columns[this.places.get(place)].name;
    return term.places ? term.places.map(name).join(" × ") : name(term.place);
  }

  termRow(term) {
    const value = element("span", { class: "number" }), bar = element("span", { class: "fill" });
    this.lines.set(this.termKey(term), { value, bar });
    const meter = element("div", { class: "signed" }, element("span", { class: "track" }, bar), value);
    const cell = term.place === undefined ? "" : this.editor(term.place);
    return element("tr", null, element("th", { scope: "row" }, element("bdi", null, this.termName(term))), element("td", null, cell), element("td", null, meter));
  }

  termKey(term) {
    return term.name ?? (term.places ? term.places.join("×") : term.place);
  }

  /** What changes a cell: a number, a choice of levels, or words that it cannot be changed here. */
  editor(place) {
    const column = this.data.model.columns[this.places.get(place)], now = this.cellOf(place);
    const set = value => { this.changed.set(place, value); this.update(); this.line.show(); };
    if (!canChange(this.data.model, place)) {
      const text = now === null ? "(a gap)" : column.levels ? column.levels[now] ?? "(new)" : String(now);
      return element("span", { class: "aside" }, element("bdi", null, text), " · what-if is not available for this column");
    }
    const gaps = this.data.model.kind !== "linear" || this.data.model.gaps;
    if (column.levels) {
      return element("select", { "aria-label": `cell of ${column.name}`, onchange: event => set(event.target.value === "" ? null : Number(event.target.value)) },
        gaps ? element("option", { value: "", selected: now === null }, "(a gap)") : null,
        column.levels.map((level, code) => element("option", { value: code, selected: now === code }, level)),
        now !== null && now >= column.levels.length ? element("option", { value: now, selected: true }, "(not seen in training)") : null);
    }
    return element("input", { type: "number", step: column.whole ? 1 : "any", value: now === null ? "" : now, placeholder: gaps ? "a gap" : "", "aria-label": `cell of ${column.name}`,
      oninput: event => {
        const typed = event.target.valueAsNumber;
        if (Number.isFinite(typed)) set(typed);
        else if (gaps) set(null);
      } });
  }

  /** Numbers and bars again, the boxes left alone. */
  update() {
    const { data, studio } = this;
    if (data.model.why || !this.lines) return;
    const { terms, logs } = this.worked(), { of, against } = this;
    const i = data.shown.rows[studio.setting.row];
    if (i !== undefined) this.held.set(posteriorsOfRow(studio.rows, i, scaledBy(studio.setting.priors, data.old, data.classes.length)));
    this.now.set(logs.map(Math.exp));
    say(this.total, signed(difference(logs, of, against)));
    const odds = terms.map(term => difference(term.values, of, against));
    const moves = studio.setting.priors ? Math.log(studio.setting.priors[of] / studio.setting.priors[against]) - Math.log(data.old[of] / data.old[against]) : 0;
    terms.forEach((term, t) => { if (term.name === (data.model.kind === "linear" ? "baseline" : "prior")) odds[t] += moves; });
    const largest = Math.max(1, ...odds.map(Math.abs).filter(Number.isFinite));
    terms.forEach((term, t) => {
      const { value, bar } = this.lines.get(this.termKey(term)), share = Math.min(Math.abs(odds[t]) / largest, 1) * 50;
      const place = `left:${(odds[t] < 0 ? 50 - share : 50).toFixed(2)}%;width:${share.toFixed(2)}%;background:${classColour(odds[t] < 0 ? against : of)}`;
      say(value, signed(odds[t]));
      if (bar.placed !== place) bar.style.cssText = bar.placed = place;
    });
  }
}

function difference(values, of, against) {
  const found = values[of] - values[against];
  return Number.isNaN(found) ? 0 : found;
}

function signed(value) {
  const near = Math.abs(value) < 0.005 ? 0 : value;
  return (near > 0 ? "+" : "") + shownNumber(near, 2);
}

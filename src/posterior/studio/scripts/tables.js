// The table of what was done with each class, and the table of what that costs.
import { classColour, element, named, percent, say, shownNumber } from "./elements.js";

/** A table of costs to be typed in: a row for each true class, a column for each action. */
export class CostTable {
  constructor(names, costs, change) {
    this.boxes = names.map((truth, k) => names.map((action, a) => element("input", {
      type: "number", step: "any", value: costs[k][a], class: k === a ? "right" : "",
      "aria-label": `cost of saying ${action} where ${truth} is the truth`,
      oninput: event => {
        const value = event.target.valueAsNumber;
        if (Number.isFinite(value)) change(k, a, value);
      },
    })));
    this.node = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "what each answer costs" }, element("table", { class: "costs" },
      element("thead", null, element("tr", null, element("th", { scope: "col" }, "truth\u00a0↓ said\u00a0→"), names.map(name => element("th", { scope: "col" }, named(name))))),
      element("tbody", null, names.map((name, k) => element("tr", null, element("th", { scope: "row" }, element("bdi", null, name)),
        this.boxes[k].map(box => element("td", null, box)))))));
  }

  set(costs) {
    if (costs === this.shown) return; // a table that is changed is a new one
    this.shown = costs;
    this.boxes.forEach((row, k) => row.forEach((box, a) => {
      if (document.activeElement !== box && box.valueAsNumber !== costs[k][a]) box.value = costs[k][a];
    }));
  }
}

/** How many rows of each class got each action, with precision and recall. */
export class ConfusionView {
  constructor(names, labels) {
    const K = names.length, heads = [...names, ...labels];
    this.K = K;
    // Numbers have boxes of a size of their own, so that the table is not laid out again where they change.
    const counted = kind => element("td", { class: kind }, element("span", { class: "count" }));
    this.cells = names.map((_, k) => heads.map((_, a) => counted(k === a ? "hit" : a < K ? "miss" : "none")));
    this.recall = names.map(() => counted("number"));
    this.precision = heads.map((_, a) => counted(a < K ? "number" : "none"));
    this.heads = heads.map((name, a) => element("th", { scope: "col" }, named(name), a < K ? swatch(a) : null));
    this.node = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "true classes against answers" }, element("table", { class: "confusion" },
      element("thead", null, element("tr", null, element("th", { scope: "col" }, "truth\u00a0↓ said\u00a0→"), this.heads, element("th", { scope: "col" }, "recall"))),
      element("tbody", null, names.map((name, k) => element("tr", null, element("th", { scope: "row" }, element("bdi", null, name)), this.cells[k], this.recall[k]))),
      element("tfoot", null, element("tr", null, element("th", { scope: "row" }, "precision"), this.precision, element("td", null)))));
  }

  set(found, shows) {
    const { K } = this, wide = Math.max(shownNumber(found.total, 1).length, 3);
    if (wide !== this.wide) this.node.style.setProperty("--wide", `${this.wide = wide}ch`);
    for (let k = 0; k < K; k++) {
      const own = found.classes[k].own;
      this.cells[k].forEach((cell, a) => {
        const count = found.confusion[k * found.width + a];
        say(cell.firstChild, shownNumber(count, Number.isInteger(count) ? 0 : 1));
        const share = own > 0 ? Math.round(100 * count / own) / 100 : 0;
        if (cell.share !== share) cell.style.setProperty("--share", cell.share = share);
      });
      say(this.recall[k].firstChild, percent(found.classes[k].recall));
      say(this.precision[k].firstChild, percent(found.classes[k].precision));
    }
    for (const a of [K, K + 1]) {
      const hidden = !shows[a - K];
      if (this.heads[a].hidden === hidden) continue;
      for (const part of [this.heads[a], this.precision[a], ...this.cells.map(row => row[a])]) part.hidden = hidden;
    }
  }
}

function swatch(k) {
  const node = element("span", { class: "swatch", "aria-hidden": "true" });
  node.style.background = classColour(k);
  return node;
}

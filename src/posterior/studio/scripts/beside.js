// The pass over rows in a thread beside the page's own, so that sliders, painting and arithmetic do not wait for each
// other. The thread runs the same script as the page, whose end says what it does where there is no document.
import { outcome } from "./outcomes.js";
import { oddRows } from "./outliers.js";

const WORTH_A_THREAD = 30_000; // posteriors: fewer are done in about a millisecond

/** All that a page shows of a setting; `silent` where the outlier rule can call no row an outlier. */
export function workedOut({ rows, outliers, old, observed }, setting, withCurves) {
  const odd = oddRows(outliers, setting.outliers, setting.priors);
  return { ...outcome(rows, setting, old, observed, odd, withCurves), silent: odd !== null && outliers.threshold === -Infinity };
}

/** What the thread does: keep its own copy of the rows, which the first message holds, and work out a setting for each other. */
export function workBeside(scope) {
  let known = null;
  scope.onmessage = ({ data }) => {
    if (!known) {
      known = data;
      return;
    }
    // What is done with each row stays here: the page asks for it once the hand rests, and works it out itself.
    scope.postMessage({ ...data.about, found: { ...workedOut(known, data.setting, data.withCurves), done: null } });
  };
}

/** The thread as the page sees it: `ask` for a setting, and `told` hears what was found. */
export class Beside {
  /** A thread for the rows of a page; null where they are few, or where the browser has none for a file. */
  static of(known, told) {
    if (known.rows.n * known.rows.K < WORTH_A_THREAD || typeof Worker === "undefined") return null;
    try { return new Beside(known, told); } catch { return null; }
  }

  constructor(known, told) {
    const script = [...document.scripts].find(each => each.type === "module");
    const address = URL.createObjectURL(new Blob([script.textContent], { type: "text/javascript" }));
    this.thread = new Worker(address);
    Object.assign(this, { told, busy: false, failed: false });
    this.thread.onmessage = ({ data }) => { this.busy = false; told(data); };
    this.thread.onerror = event => { event.preventDefault(); this.thread.terminate(); this.busy = false; this.failed = true; told(null); };
    this.thread.postMessage(known);
  }

  /** Ask for a setting; what is `about` it comes back with what was found. */
  ask(setting, withCurves, about) {
    this.busy = true;
    this.thread.postMessage({ setting, withCurves, about });
  }
}

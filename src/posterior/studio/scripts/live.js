// The moving pictures of the course. A page has <div class="posterior-live" data-live="gaussians">with the figure
// that was computed when the page was made</div>; this puts the picture that moves in its place.
import { boundaryForm, conicType, posteriorAt, quadraticOf, zerosBetween } from "./gaussians.js";
import { descentPath, meanLoss, newtonPath } from "./descent.js";
import { element } from "./elements.js";
import { LiveDescent } from "./live_descent.js";
import { LiveGaussians } from "./live_gaussians.js";
import { LivePoints } from "./live_points.js";
import { fitGaussians, fitLogistic } from "./refit.js";

const LIVE = { gaussians: LiveGaussians, points: LivePoints, descent: LiveDescent };

/** Put a moving picture into a holder; the figure that it held stays below, folded. */
export function mountLive(host) {
  const Kind = LIVE[host.dataset.live];
  if (!Kind || host.posteriorLive) return;
  const figure = [...host.childNodes];
  const live = new Kind(host);
  const kept = element("details", { class: "computed" }, element("summary", null, "The same as a still picture"), figure);
  host.replaceChildren(live.node, ...(figure.some(part => part.nodeType === 1) ? [kept] : []));
  host.posteriorLive = live;
  // Colours of the canvas are numbers: they are read again where the theme changes.
  const repaint = () => requestAnimationFrame(() => live.repaint());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  new MutationObserver(repaint).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

for (const host of document.querySelectorAll(".posterior-live")) mountLive(host);
// For tests and for the console.
globalThis.posteriorLive = { mountLive, boundaryForm, conicType, posteriorAt, quadraticOf, zerosBetween, fitGaussians, fitLogistic, descentPath, newtonPath, meanLoss };

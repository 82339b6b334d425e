// Makes two quick taps at one spot one tap: what lies under the second may have come there after it was aimed.

const WITHIN = 600;
const NEAR = 24;
// A label passes its click on to its field at once; no finger is that quick.
const SAME_TAP = 20;
const CONTROLS = "button, a, label, summary, input, select";

let last = null;

function isRepeated(event) {
  const age = last ? event.timeStamp - last.at : Infinity;
  const isNear = last && Math.hypot(event.clientX - last.x, event.clientY - last.y) < NEAR;
  return age > SAME_TAP && age < WITHIN && isNear;
}

document.addEventListener(
  "click",
  (event) => {
    // A key on a control clicks it, too, and has no place on the screen.
    if (event.detail === 0) return;
    const isExtra = isRepeated(event);
    // Also after a tap that was left out: five quick taps are one.
    last = { at: event.timeStamp, x: event.clientX, y: event.clientY };
    if (!isExtra || !event.target.closest?.(CONTROLS)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

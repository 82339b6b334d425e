// Lets a tap count only if it meets what it was aimed at: the control that was under the finger, with the same ids,
// where it has stood still for a moment. Two quick taps at one spot are one. A tap that does not count pulses.

// Milliseconds for which a control has to stand still before a tap on it counts.
const STILL_FOR = 400;
const WITHIN = 600;
const NEAR = 24;
// A label passes its click on to its field at once; no finger is that quick.
const SAME_TAP = 20;
// A tap whose click has not come by then has met something that went away; a busy phone is late with a click.
const CLICK_WITHIN = 250;
const SLIP = 12;
const PIXEL = 1;
const CONTROLS = "button, a, label, summary, input, select, textarea";
// These only change what is typed: each tap on them is taken.
const TYPING = "button[type=button], input, label, select, textarea";
const STATE_FIELDS = new Set(["csrf", "key", "form", "page", "then"]);
// Who stands before a place in a queue (web/row_revisions.py): that somebody of them leaves changes no meaning.
const AHEAD = "after ";
const LAST_TAP = "silverball-tap";

// Control -> where it was seen last, what it means, and since when both are so.
const known = new WeakMap();
let isFirstLook = true;
let meanings = new Map();
let down = null;
let last = lastOfOtherPage();
let changedAt = 0;
let settled = 0;
// What the focused control meant when it got the focus.
let focused = null;

const controlAt = (target) => target?.closest?.(CONTROLS) ?? null;
// A label and its field are one.
const fieldOf = (control) => (control?.matches("label") ? (control.control ?? control) : control);

function idsOf(form) {
  if (!meanings.has(form)) {
    const hidden = [...form.elements].filter(
      ({ type, name, value }) => type === "hidden" && !STATE_FIELDS.has(name) && !value.startsWith(AHEAD),
    );
    meanings.set(form, [form.getAttribute("action"), ...hidden.map(({ name, value }) => `${name}=${value}`)].join());
  }
  return meanings.get(form);
}

function meaningOf(control) {
  const ids = control.form ? idsOf(control.form) : "";
  const value = control.matches("button") ? control.value : "";
  return [control.getAttribute("href") ?? "", control.name ?? "", value, ids].join();
}

// Look where all controls are; those that are elsewhere, or mean something else, start to stand still now.
function look(now, isPersonal = false) {
  meanings = new Map();
  let hasMoved = false;
  for (const control of document.querySelectorAll(CONTROLS)) {
    const { left, top, width, height } = control.getBoundingClientRect();
    const [x, y] = [left + scrollX, top + scrollY];
    const before = known.get(control);
    const meaning = meaningOf(control);
    // What is fixed to the window stands still in it, everything else in the document.
    const isStill =
      before &&
      (isPersonal || (isNear(before.x, x) && isNear(before.y, y)) || (isNear(before.left, left) && isNear(before.top, top))) &&
      (isPersonal || (isNear(before.width, width) && isNear(before.height, height))) &&
      before.meaning === meaning;
    const since = isStill ? before.since : isFirstLook ? -Infinity : now;
    hasMoved ||= since === now;
    known.set(control, { x, y, left, top, width, height, meaning, since });
  }
  isFirstLook = false;
  if (hasMoved) showSettling();
}

const isNear = (number, other) => Math.abs(number - other) <= PIXEL;

// Says to the stylesheet that some controls do not count yet.
function showSettling() {
  document.documentElement.dataset.settling = "";
  clearTimeout(settled);
  settled = setTimeout(() => delete document.documentElement.dataset.settling, STILL_FOR);
}

new MutationObserver(() => {
  if (changedAt) return;
  changedAt = performance.now();
  requestAnimationFrame(lookAgain);
}).observe(document.documentElement, {
  subtree: true,
  childList: true,
  characterData: true,
  attributes: true,
  attributeFilter: ["class", "hidden", "open", "style", "value", "href", "aria-disabled", "data-entry"],
});

function lookAgain() {
  if (changedAt) look(changedAt);
  changedAt = 0;
}

// Scrolling, also of a line of filters inside the page, pinching, turning and the keyboard are the person's own moves.
for (const [target, name] of [[window, "scroll"], [window, "resize"], [visualViewport, "resize"]]) {
  const lookNext = () => requestAnimationFrame(() => look(performance.now(), true));
  target?.addEventListener(name, lookNext, { passive: true, capture: true });
}

// Show that a tap did not count.
function pulse(control) {
  const colour = getComputedStyle(control).color;
  control.animate(
    [{ outline: `3px solid ${colour}`, outlineOffset: "2px" }, { outline: "3px solid transparent", outlineOffset: "2px" }],
    { duration: 500, id: "pulse" },
  );
}

document.addEventListener(
  "pointerdown",
  (event) => {
    lookAgain();
    look(performance.now());
    const control = fieldOf(controlAt(event.target));
    down = { at: event.timeStamp, x: event.clientX, y: event.clientY, control, meaning: control && meaningOf(control), isHeard: false };
  },
  { capture: true, passive: true },
);

document.addEventListener("pointercancel", () => (down = null), { capture: true, passive: true });

document.addEventListener(
  "pointerup",
  (event) => {
    const tap = down;
    if (!tap?.control || Math.hypot(event.clientX - tap.x, event.clientY - tap.y) > SLIP) return;
    setTimeout(() => {
      const control = controlAt(document.elementFromPoint(tap.x, tap.y)) ?? tap.control;
      if (!tap.isHeard) pulse(control);
    }, CLICK_WITHIN);
  },
  { capture: true, passive: true },
);

function isRepeated(event, control) {
  const age = last ? event.timeStamp - last.at : Infinity;
  const isClose = last && Math.hypot(event.clientX - last.x, event.clientY - last.y) < NEAR;
  // Also after a tap that was left out: five quick taps are one.
  last = { at: event.timeStamp, x: event.clientX, y: event.clientY };
  return !control.matches(TYPING) && age > SAME_TAP && age < WITHIN && isClose;
}

function isAimed(control) {
  lookAgain();
  look(performance.now());
  const field = fieldOf(control);
  const { since, meaning } = known.get(control) ?? { since: Infinity };
  if (down?.control !== field || down.at - since < STILL_FOR) return false;
  return field !== control || meaning === down.meaning;
}

// A key, or a screen reader: element and meaning are as at focus.
function isAsAtFocus(control) {
  if (!focused || document.activeElement !== focused.element) return true;
  meanings = new Map();
  if (focused.element !== control && focused.element.form !== control.form) return true;
  const isSame = meaningOf(focused.element) === focused.meaning;
  focused.meaning = meaningOf(focused.element);
  return isSame;
}

document.addEventListener(
  "click",
  (event) => {
    const control = controlAt(event.target);
    if (!event.isTrusted) return;
    if (down) down.isHeard = true;
    if (!control) {
      if (event.detail !== 0 && down?.control) pulse(down.control);
      return;
    }
    const isKey = event.detail === 0;
    const counts = isKey ? isAsAtFocus(control) : !isRepeated(event, control) && isAimed(control);
    if (counts && control.getAttribute("aria-disabled") !== "true") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    pulse(control);
  },
  { capture: true },
);

document.addEventListener("focusin", ({ target }) => {
  meanings = new Map();
  focused = { element: target, meaning: target.matches(CONTROLS) ? meaningOf(target) : "" };
});

// The second of two taps may come when the first has led to another page.
function lastOfOtherPage() {
  try {
    const { at, x, y } = JSON.parse(sessionStorage.getItem(LAST_TAP));
    return { at: at - performance.timeOrigin, x, y };
  } catch {
    return null;
  }
}

addEventListener("pagehide", () => {
  try {
    if (last) sessionStorage.setItem(LAST_TAP, JSON.stringify({ ...last, at: last.at + performance.timeOrigin }));
  } catch {
    // Without a store, two taps across pages are two.
  }
});

// What the page begins with has always stood there.
requestAnimationFrame(() => look(performance.now()));

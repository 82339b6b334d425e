// Brings newer content into the page without moving what is there: rows keep their place and their height, and
// what would move a row, or a control that can be seen, is left for the person to ask for.

import { isTouched } from "./keep.js";
import { morph, morphChildren } from "./morph.js";

const CONTROLS = "button, a, summary, input, select, textarea";
// Less than that is a rounding of the browser.
const PIXEL = 0.6;
// A control is known by its first letters.
const WORDS_MAX = 60;

const rowsOf = (root) => [...root.querySelectorAll("[data-row]")];
const isInView = ({ top, bottom, width }) => width > 0 && bottom > 0 && top < innerHeight;

// The row keeps its height, whatever comes into it.
function holdHeight(row) {
  if (!row.style.height) row.style.height = `${row.getBoundingClientRect().height}px`;
}

// A row that the newer content no longer has: it stays where it is, and nothing in it can be used.
function markGone(row) {
  if (row.classList.contains("gone")) return;
  holdHeight(row);
  row.classList.add("gone");
  for (const control of row.querySelectorAll("button, input, select")) control.setAttribute("aria-disabled", "true");
}

// What was done to a row is shown by the row itself until content comes that was asked for later.
const isOurs = (row, asked) => row.dataset.entry !== undefined && !(Number(row.dataset.savedAt) < asked);

function updateRow(row, next, asked) {
  if (isOurs(row, asked) || row.querySelector("dialog[open]")) return;
  // What was entered in a row is its own until it is saved.
  if (row.dataset.entry === undefined && isTouched(row)) return;
  holdHeight(row);
  const { height } = row.style;
  next.style.height = height;
  if (row.isEqualNode(next)) return;
  const hadFocus = row.contains(document.activeElement);
  morph(row, next);
  if (hadFocus && document.activeElement === document.body) focusRow(row);
}

// The keyboard goes on where it was: at what was chosen, which does nothing more.
function focusRow(row) {
  (row.querySelector("[aria-pressed=true]") ?? row.querySelector("button, a"))?.focus({ preventScroll: true });
}

// The rows of a list in the order of the page, then new ones; says whether the server's order is another.
function inOurOrder(list, next) {
  const old = rowsOf(list).filter((row) => row.parentElement === list);
  const coming = new Map(rowsOf(next).filter((row) => row.parentElement === next).map((row) => [row.id, row]));
  const kept = old.map((row) => coming.get(row.id) ?? row.cloneNode(true));
  const fresh = [...coming.values()].filter((row) => !kept.includes(row));
  const wanted = [...coming.keys()];
  const isOther = wanted.join() !== [...kept, ...fresh].map((row) => row.id).join();
  return { rows: [...kept, ...fresh], isOther };
}

// The newer part with its rows as this page has them.
function arrange(part, next) {
  const arranged = next.cloneNode(true);
  let isOther = false;
  for (const list of part.querySelectorAll("[data-rows]")) {
    const newer = arranged.querySelector(`#${CSS.escape(list.id)}`);
    if (!newer) {
      isOther = true;
      continue;
    }
    const { rows, isOther: isMoved } = inOurOrder(list, newer);
    isOther ||= isMoved;
    newer.replaceChildren(...rows);
  }
  const open = [...part.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent);
  for (const summary of arranged.querySelectorAll("details > summary")) {
    if (open.includes(summary.textContent)) summary.parentElement.open = true;
  }
  return { arranged, isOther };
}

// Name -> where it is, in the document and in the window: all rows, and the controls, or those in view.
function placesIn(root, isShown = () => true) {
  const places = new Map();
  const put = (name, { left, top, width, height }) => places.set(name, { top, box: [left, top + scrollY, width, height] });
  for (const row of rowsOf(root)) put(row.id, row.getBoundingClientRect());
  const counts = new Map();
  for (const control of root.querySelectorAll(CONTROLS)) {
    if (control.closest("[data-row], [data-slot], dialog")) continue;
    const around = control.closest("[id], [data-live]");
    const words = control.textContent.trim().slice(0, WORDS_MAX) || control.name;
    const name = [around?.id || around?.dataset.live, control.tagName, words].join(" ");
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const box = control.getBoundingClientRect();
    if (isShown(box)) put(`${name} ${count}`, box);
  }
  return places;
}

// The browser may scroll while a part is laid out for a moment; what is fixed to the window stays in it.
function isSamePlace(place, other) {
  if (!other) return false;
  const differs = place.box.map((number, index) => Math.abs(number - other.box[index]) > PIXEL);
  if (Math.abs(place.top - other.top) <= PIXEL) differs[1] = false;
  return !differs.includes(true);
}

// Whether the part could be replaced without moving anything: it is laid out for a moment, before it is painted.
function wouldStayStill(part, arranged) {
  const { scrollX, scrollY } = window;
  const before = placesIn(document.body, isInView);
  const trial = arranged.cloneNode(true);
  part.hidden = true;
  part.after(trial);
  const outside = placesIn(document.body);
  const inside = placesIn(trial);
  trial.remove();
  part.hidden = false;
  if (window.scrollY !== scrollY) scrollTo({ left: scrollX, top: scrollY, behavior: "instant" });
  for (const [name, place] of before) {
    if (!isSamePlace(place, inside.get(name) ?? outside.get(name))) return false;
  }
  return true;
}

// Slots and rows have their space kept: they are brought up to date by themselves.
function updatePieces(part, next, asked) {
  for (const slot of part.querySelectorAll("[data-slot]")) {
    const newer = next.querySelector(`#${CSS.escape(slot.id)}`);
    if (newer && !isTouched(slot)) morph(slot, newer.cloneNode(true));
  }
  for (const row of rowsOf(part)) {
    const newer = next.querySelector(`#${CSS.escape(row.id)}`);
    if (newer) updateRow(row, newer.cloneNode(true), asked);
    else if (!isOurs(row, asked)) markGone(row);
  }
}

// Bring the part up to date as far as nothing moves, with content that was asked for at that time; says whether
// something is left to be asked for. What follows from the person's own form is shown wherever it goes.
export function updateInPlace(part, next, asked, isOwn) {
  updatePieces(part, next, asked);
  const { arranged, isOther } = arrange(part, next);
  for (const row of rowsOf(arranged)) {
    const here = document.getElementById(row.id);
    // Rows are up to date already, as far as they may be.
    if (here && part.contains(here)) row.replaceWith(here.cloneNode(true));
  }
  if (isOwn) {
    morphChildren(part, [...arranged.childNodes]);
    return isOther;
  }
  // The rows of another round are asked for, also where nothing in view would move.
  if (roundOf(part) !== roundOf(arranged)) return true;
  if (isTouched(part, "[data-row], [data-slot]")) return isOther || shapeOf(part) !== shapeOf(arranged);
  if (!wouldStayStill(part, arranged)) return true;
  morphChildren(part, [...arranged.childNodes]);
  return isOther;
}

const roundOf = (part) => part.querySelector("[data-round]")?.dataset.round;

// The content of a part without its rows and slots, and without what differs each time.
function shapeOf(part) {
  const copy = part.cloneNode(true);
  for (const piece of copy.querySelectorAll("[data-row], [data-slot], [data-ago]")) piece.replaceChildren();
  for (const input of copy.querySelectorAll("input[name=key]")) input.removeAttribute("value");
  for (const extra of copy.querySelectorAll(".tap, .over-again, .sending")) extra.remove();
  return copy.textContent.replace(/\s+/g, " ") + copy.querySelectorAll("*").length;
}

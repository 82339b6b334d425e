// Rows show what was entered in them at once: what is being sent, what waits for a connection, what is saved.
// Groups are entered on a page of their own, which opens over the list.

import { morph } from "./morph.js";

const WORDS = { sending: "…", unsent: "not sent", saved: "saved" };
const PLACE = /^place-(\d+)$/;

// Row id -> the row as it was before an entry, to which it returns when the entry is discarded.
const before = new Map();

export const rowOf = (form, submitter = null) => submitter?.closest("[data-row]") ?? form?.closest("[data-row]") ?? null;

// The row of an entry: its form is in it.
export const rowOfEntry = ({ form }) => rowOf(document.getElementById(form));

// Show in its row what was entered, and what has become of it.
export function showEntry(row, fields, state, cancel = null) {
  if (!before.has(row.id)) before.set(row.id, row.cloneNode(true));
  row.dataset.entry = state;
  if (state === "saved") row.dataset.savedAt = String(performance.now());
  const isPending = state === "sending" || state === "unsent";
  for (const form of row.querySelectorAll("form")) form.classList.toggle("pending", isPending);
  const entered = new Map(fields);
  for (const button of row.querySelectorAll("form button[name], form button:not([type=button])")) {
    const isChosen = button.name !== "" && entered.get(button.name) === button.value;
    button.classList.toggle("chosen", isChosen);
    button.setAttribute("aria-disabled", "true");
    if (button.name) button.setAttribute("aria-pressed", String(isChosen));
  }
  showPlaces(row, fields);
  const word = row.querySelector(".when");
  if (word) word.textContent = WORDS[state];
  showCancel(row, isPending ? cancel : null);
}

function showPlaces(row, fields) {
  for (const [name, place] of fields) {
    const number = PLACE.test(name) && row.querySelector(`[data-player="${name.match(PLACE)[1]}"] > b`);
    if (number) number.textContent = place;
  }
}

// What is not sent yet can be taken back where the way to its page was.
function showCancel(row, cancel) {
  const existing = row.querySelector(".row-cancel");
  if (!cancel) existing?.remove();
  if (!cancel || existing) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "row-cancel quiet";
  button.textContent = "Undo";
  button.addEventListener("click", cancel);
  row.querySelector(".line")?.append(button);
}

// The entry was taken back before it was sent.
export function forgetEntry(row) {
  const old = before.get(row.id);
  before.delete(row.id);
  if (old) morph(row, old);
}

// The page of a group's entry

const openPage = () => document.querySelector("dialog.entry-page[open]");

function openEntryPage(dialog) {
  dialog.showModal();
  history.pushState({ entry: dialog.id }, "");
}

// What the server gave back is shown where it was entered.
export function openReturned() {
  const dialog = openPage() ? null : document.querySelector("dialog.entry-page:has(form[data-typed])");
  if (dialog) openEntryPage(dialog);
}

// The entry page that a link or a row opens.
function openedBy(opener) {
  return document.getElementById(opener.dataset.opens ?? opener.hash.slice(1))?.closest("dialog.entry-page");
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-opens], a[href^='#']");
  const dialog = opener && !event.defaultPrevented && !opener.closest("[data-entry]") ? openedBy(opener) : null;
  if (dialog) {
    event.preventDefault();
    openEntryPage(dialog);
  }
  if (event.target.closest?.("[data-closes]")) history.back();
});

addEventListener("popstate", () => openPage()?.close());

// Escape closes it as well: then the page goes back, too.
document.addEventListener("cancel", (event) => {
  if (!event.target.matches("dialog.entry-page")) return;
  event.preventDefault();
  history.back();
}, { capture: true });

export function closeEntryPage(form) {
  const dialog = form.closest("dialog.entry-page[open]");
  if (!dialog) return;
  dialog.close();
  if (history.state?.entry) history.back();
}

// Sends the console's forms exactly once over an unreliable network, and replaces the page with the answer.
// Without this file every form works as a plain form.

import "./guard.js";
import "./copy.js";
import "./share.js";
import { deliver, deliverRest, discard, get, isSignedOut, post, settle, WITHOUT_PAGE } from "./delivery.js";
import "./files.js";
import "./find.js";
import { pageReplaced, refresh } from "./fresh.js";
import { showImpossible } from "./impossible.js";
import { keepChoices, remember, restore, showChoices } from "./keep.js";
import { morph } from "./morph.js";
import { newKey } from "./outbox.js";
import { closeEntryPage, forgetEntry, openReturned, rowOf, rowOfEntry, showEntry } from "./rows.js";
import { keepNight, keepParts } from "./seen.js";
import { makeTaps, showTaps } from "./taps.js";
import "./timer.js";
import "./lines.js";
import "./scores.js";
import "./zone.js";

// A form that is no result is tried a few times, and stays as it was filled in.
const TRIES = 6;
const FIRST_WAIT = 1000;
// The label of a longer list of players tells how many more there are.
const NAMED_MAX = 4;
const NOT_SENT = "Not sent yet: no connection. It is kept here and sent as soon as there is one.";

// Form id -> the message shown while the form is being sent.
const sending = new Map();

function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

// Show a message below a form that is being sent; null when it is not.
function showMessage(id, text, isFault = false) {
  const form = document.getElementById(id);
  if (!form) return;
  const isPending = text !== null && !isFault;
  form.classList.toggle("pending", isPending);
  form.setAttribute("aria-busy", String(isPending));
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", String(isPending));
  let line = form.querySelector(".sending");
  if (!line) {
    line = document.createElement("p");
    line.className = "sending";
    line.setAttribute("role", "status");
    form.append(line);
  }
  line.textContent = text ?? "";
  line.classList.toggle("fault", isFault);
}

// Replace the parts of the page by those of the answer; without parts, the whole page.
function replacePage({ html, url, isElsewhere }, sent) {
  const next = new DOMParser().parseFromString(html, "text/html");
  const parts = [...document.querySelectorAll("[data-live]")];
  const newParts = [...next.querySelectorAll("[data-live]")];
  const names = (list) => list.map((part) => part.dataset.live).join();
  const [main, old] = [next.getElementById("main"), document.getElementById("main")];
  // A page with another layout is loaded as a whole.
  if (!main || (isElsewhere && next.body.className !== document.body.className)) {
    location.assign(url);
    return;
  }
  const entries = remember(sent);
  const isSame = newParts.length > 0 && names(parts) === names(newParts);
  const contents = newParts.map((part) => [part.dataset.live, part.innerHTML]);
  if (isSame) {
    parts.forEach((part, index) => part.replaceChildren(...newParts[index].childNodes));
  } else {
    old.replaceChildren(...main.childNodes);
    document.title = next.title;
  }
  showPlaceOf(sent, isSame);
  for (const name of Object.keys(old.dataset)) delete old.dataset[name];
  Object.assign(old.dataset, main.dataset);
  const target = new URL(url);
  // An answer without a redirect has no address to return to.
  if (isElsewhere) history.replaceState(null, "", target.pathname + target.search);
  if (isElsewhere && isSame) keepParts(contents);
  pageReplaced();
  makeTaps(document);
  showChoices();
  restore(entries);
  showTaps(document);
  showImpossible(document);
  for (const [id, text] of sending) showMessage(id, text);
  const fault = document.querySelector("main [role=alert]");
  if (fault) {
    fault.tabIndex = -1;
    fault.focus();
    fault.scrollIntoView({ block: "center" });
  } else if (document.activeElement === document.body) {
    old.focus({ preventScroll: true });
  }
  openReturned();
}

// After a change of the page, its beginning is shown, or that of the card whose form was sent.
function showPlaceOf(sent, isSame) {
  const card = isSame && sent ? document.getElementById(sent)?.closest(".card") : null;
  if (!card && (sent || !isSame)) scrollTo(0, 0);
  else if (card && card.getBoundingClientRect().top < 0) card.scrollIntoView({ block: "start" });
}

// Say why it was refused, above the page, which stays as it is; the form has what was entered.
function showRefusal(answer, id) {
  const page = new DOMParser().parseFromString(answer.html, "text/html");
  const fault = page.querySelector("main #fault");
  if (!fault || isSignedOut(answer)) {
    replacePage(answer, id);
    return;
  }
  const form = document.getElementById(id);
  const newer = page.getElementById(id);
  if (form && newer && !rowOf(form) && !form.closest("[data-slot]")) {
    makeTaps(newer.parentElement);
    morph(form, newer);
    form.reset();
    showTaps(form);
  } else if (form?.elements.namedItem("key")) {
    form.elements.namedItem("key").value = newKey();
  }
  document.getElementById("refusal")?.remove();
  const panel = document.createElement("div");
  panel.id = "refusal";
  panel.className = "refusal";
  const close = document.createElement("button");
  close.type = "button";
  close.className = "quiet";
  close.textContent = "Close";
  close.addEventListener("click", () => panel.remove());
  panel.append(fault, close);
  document.getElementById("main").prepend(panel);
  fault.focus({ preventScroll: true });
  refresh();
}

function setMessage(id, text) {
  sending.set(id, text);
  showMessage(id, text);
}

// The result of a game as a person reads it in the list of what is not sent.
function labelOf(form, submitter) {
  const title = rowOf(form)?.querySelector("h3") ?? form.querySelector("h2, h3") ?? form.closest(".card")?.querySelector("h2, h3");
  const places = [...form.querySelectorAll(".place")].filter((row) => row.querySelector("select").value);
  places.sort((row, other) => row.querySelector("select").value - other.querySelector("select").value);
  const typed = [...form.querySelectorAll("input.number, input[type=text]")].filter((field) => field.value);
  const chosen = [...form.querySelectorAll(":scope > select")].map((field) => field.selectedOptions[0]?.textContent);
  const ticked = [...form.querySelectorAll("input[type=checkbox]:checked")].map((box) => box.closest("label").textContent);
  const lines = [...form.querySelectorAll("textarea")].flatMap((field) => field.value.split("\n"));
  const words = submitter?.name
    ? [submitter.textContent]
    : [
        ...places.map((row) => row.querySelector("label").textContent),
        ...chosen,
        ...typed.map((field) => field.value),
        ...shortened([...ticked, ...lines].map((text) => text.trim()).filter(Boolean)),
      ];
  return [title?.firstElementChild?.textContent ?? title?.textContent ?? "", words.join(", ")]
    .map((text) => text.trim().replace(/\s+/g, " "))
    .filter(Boolean)
    .join(": ");
}

const shortened = (names) =>
  names.length > NAMED_MAX ? [...names.slice(0, NAMED_MAX - 1), `${names.length - NAMED_MAX + 1} more`] : names;

// The saved form becomes a line in its place; nothing else moves until the page is calm.
function foldForm(id, label) {
  const form = document.getElementById(id);
  if (!form) return;
  const line = document.createElement("p");
  line.className = "saved";
  line.setAttribute("role", "status");
  line.style.minHeight = `${form.offsetHeight}px`;
  line.textContent = `Saved: ${label}`;
  line.tabIndex = -1;
  const hadFocus = form.contains(document.activeElement);
  form.replaceWith(line);
  if (hadFocus) line.focus({ preventScroll: true });
}

// Through the outbox: it is sent again without end, by later pages too, until the server has answered.
async function sendThroughOutbox(form, fields, key, submitter) {
  const { id } = form;
  const { tournament, account } = ownerOfPage();
  const label = labelOf(form, submitter);
  const entry = { key, account, tournament, form: id, action: form.getAttribute("action"), fields, label, at: Date.now() };
  if (rowOf(form)) {
    closeEntryPage(form);
    showInRow(entry, "sending");
    const done = await deliver(entry, () => showInRow(entry, "unsent"));
    showDoneInRow(entry, done);
    return;
  }
  const staysOpen = isForMany(form);
  let hasLeft = false;
  const onWaiting = () => {
    if (!staysOpen) setMessage(id, NOT_SENT);
    else if (!hasLeft) takeNext(id, `Not sent yet: ${label}`);
    hasLeft = staysOpen;
  };
  setMessage(id, "Sending …");
  const done = await deliver(entry, onWaiting, () => hasLeft);
  if (hasLeft) showLater(done);
  else showDone(entry, done, staysOpen);
}

function showInRow(entry, state) {
  const row = rowOfEntry(entry);
  if (row) showEntry(row, entry.fields, state, () => discard(entry));
}

// What has become of an entry of a row; a refused one leaves the row, which shows what is there now.
function showDoneInRow(entry, done) {
  const row = rowOfEntry(entry);
  if (row && done?.isTaken) showEntry(row, entry.fields, "saved");
  else if (row) forgetEntry(row);
  if (done?.isTaken) showTaken(done.answer, false);
  else if (done) showRefusal(done.answer, entry.form);
}

// Whether the form is for one entry after another.
const isForMany = (form) => form.dataset.outbox === "again";

// Such a form takes the next entry, with the same choices, and says what became of the one before.
function takeNext(id, text) {
  sending.delete(id);
  showMessage(id, null);
  const form = document.getElementById(id);
  if (!form) return;
  form.elements.namedItem("key").value = newKey();
  delete form.dataset.sent;
  for (const box of form.querySelectorAll("input[type=checkbox]:checked")) box.closest("label").remove();
  for (const field of form.querySelectorAll("textarea, input.number, input[type=text]")) field.value = field.defaultValue = "";
  keepChoices(id);
  showChoices();
  showImpossible(document);
  form.querySelector(".sending").textContent = text;
}

// What left its form was taken: the page shows it, and what is being entered stays.
function showLater(done) {
  if (done?.isTaken) refresh(true);
}

// The page that a taken entry leads to: this one is brought up to date in place, another one is shown.
async function showTaken({ url }, isOwn = true) {
  if (new URL(url).pathname === location.pathname) {
    refresh(isOwn);
    return;
  }
  try {
    const page = await get(url);
    replacePage({ ...page, isElsewhere: true }, "");
  } catch {
    refresh();
  }
}

function showDone({ form: id, label }, done, staysOpen) {
  sending.delete(id);
  showMessage(id, null);
  if (!done) return;
  if (!done.isTaken) {
    showRefusal(done.answer, id);
    return;
  }
  if (staysOpen) takeNext(id, `Saved: ${label}`);
  else foldForm(id, label);
  showTaken(done.answer);
}

// What an earlier page left is sent; the form of the same game shows that, and takes no second entry meanwhile.
function sendRest() {
  const { tournament, account } = ownerOfPage();
  if (!account) return;
  const formOf = ({ form }) => document.getElementById(form);
  const isTaking = (entry) => formOf(entry) !== null && isForMany(formOf(entry));
  deliverRest(
    tournament,
    account,
    (entry) => {
      if (rowOfEntry(entry)) showInRow(entry, "unsent");
      else if (formOf(entry) && !isTaking(entry)) setMessage(entry.form, NOT_SENT);
    },
    (entry, done) => {
      if (rowOfEntry(entry)) showDoneInRow(entry, done);
      else if (isTaking(entry)) showLater(done);
      else if (formOf(entry)) showDone(entry, done, false);
    },
  );
}

function ownerOfPage() {
  const { follow, account } = document.getElementById("main").dataset;
  return { tournament: follow, account };
}

// Every try has the same idempotency key, so the form acts once whichever of them arrives. A form of a row or of a
// line that stays is answered without a page: what it changes is brought up to date in place.
async function send(form, body, submitter) {
  const { id } = form;
  const row = rowOf(form, submitter);
  const isInPlace = row !== null || form.closest("[data-slot]") !== null;
  const show = (text, isFault = false) => {
    if (row) showEntry(row, [...body], "sending");
    else showMessage(id, text, isFault);
  };
  sending.set(id, "");
  show("Sending …");
  let pause = FIRST_WAIT;
  for (let left = TRIES; left > 0; left -= 1) {
    try {
      const answer = await post(form.getAttribute("action"), body, isInPlace ? WITHOUT_PAGE : {});
      sending.delete(id);
      if (id === "correct" && answer.isElsewhere && body.get("entry")) await settle(body.get("entry"));
      showMessage(id, null);
      showAnswer(answer, id, row, [...body], isInPlace);
      return;
    } catch {
      if (left > 1) {
        show("Not sent yet: no connection. Trying again …");
        await wait(pause);
        pause *= 2;
      }
    }
  }
  sending.delete(id);
  if (row) forgetEntry(row);
  showMessage(id, "Not sent: no connection. What you entered is still here; send it again.", true);
}

function showAnswer(answer, id, row, fields, isInPlace) {
  if (row && answer.isElsewhere) showEntry(row, fields, "saved");
  else if (row) forgetEntry(row);
  if (answer.status >= 400) showRefusal(answer, id);
  // A tap in a list moves nothing, unless it leads to something that has to be decided.
  else if (isInPlace) showTaken(answer, row === null || row.dataset.leads !== undefined);
  else replacePage(answer, id);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.matches("[data-once]")) return;
  event.preventDefault();
  // A second tap while the form is being sent is ignored.
  if (sending.has(form.id) || rowOf(form, event.submitter)?.dataset.entry === "sending") return;
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const content = JSON.stringify([...body].filter(([name]) => name !== "key"));
  if (form.dataset.sent && form.dataset.sent !== content) {
    // The content has changed since it was sent, so it is another request.
    const key = newKey();
    form.elements.namedItem("key").value = key;
    body.set("key", key);
  }
  form.dataset.sent = content;
  if (form.matches("[data-outbox]") && ownerOfPage().account) {
    const fields = [...body].filter(([name]) => name !== "key" && name !== "csrf");
    sendThroughOutbox(form, fields, body.get("key"), event.submitter);
    return;
  }
  send(form, body, event.submitter);
});

// The browser may fill fields in again after Back; what it filled in is shown, or nothing is.
addEventListener("pageshow", () => {
  showTaps(document);
  showImpossible(document);
});

// The keys of a page of earlier may have been used.
if (document.getElementById("main").dataset.seen) {
  for (const field of document.querySelectorAll("form[data-once] input[name=key]")) field.value = newKey();
}
pageReplaced();
makeTaps(document);
showImpossible(document);
openReturned();
sendRest();
if (ownerOfPage().tournament) keepNight();

// Keeps the parts of the console up to date without a reload. A part with unsent entries is left alone:
// it says "Changed meanwhile" and is replaced on request.

import { onActivity, restUntilCalm } from "./calm.js";
import { focusedRow, focusRow } from "./focus.js";
import { isTouched, remember, restore, showChoices } from "./keep.js";
import { follow } from "./live.js";
import { morphChildren } from "./morph.js";
import { clockTime, forgetNight, keepParts } from "./seen.js";
import { makeTaps, showTaps } from "./taps.js";

const EVERY = 500;
// Fetch once more after the last event: another node may have answered before it knew of the event.
const SETTLED_AFTER = 1500;
const RETRY_MIN = 1000;
const RETRY_MAX = 30000;
const FETCH_WITHIN = 10000;
const GONE = new Set([403, 404, 410]);
const AGO_EVERY = 20000;
const STATE_TEXTS = { live: "Live", "catching up": "Catching up", offline: "Offline" };
const SIGNED_OUT = ["Signed out", "Sign in"];
const CLOSED = ["Closed to you", "Look"];

const dot = document.getElementById("feed");
// Part name -> its newest content from the server.
const known = new Map();
// Part name -> newer content that unsent entries keep from being shown.
const waiting = new Map();
let feed = null;
let followed = "";
let line = "catching up";
// The reason why the server no longer shows this page, and the text of the link.
let closed = null;
let isBusy = false;
let isDue = false;
let failures = 0;
// When the page was last known to be as on the server.
let seen = Date.now();
let began = 0;
let timer = 0;
let settled = 0;
let calmed = 0;
// Whether there were events after the content on the page was sent.
let hasNews = false;
// The number of times that the answer to a form has replaced the page.
let answers = 0;
// Whether the page is asked for as a whole, once nobody touches it.
let isPageDue = false;

const main = () => document.getElementById("main");
const parts = () => [...document.querySelectorAll("[data-live]")];

function showState(state = line) {
  line = state;
  const isBehind = failures > 0 || main().dataset.seen !== undefined;
  const visible = closed ? "offline" : line === "live" && isBehind ? "catching up" : line;
  const [message, linkText] = closed ?? [stateText(visible)];
  const text = dot.lastElementChild;
  dot.dataset.state = visible;
  if (text.dataset.told === message) return;
  text.dataset.told = text.textContent = message;
  if (!linkText) return;
  // In a new tab, so that the entries on this page stay.
  const link = document.createElement("a");
  link.href = main().dataset.at;
  link.target = "_blank";
  link.textContent = linkText;
  text.append(": ", link);
}

// Without a connection, and while a page of earlier is brought up to date, also the time that it shows.
function stateText(visible) {
  const isOld = visible === "offline" || main().dataset.seen !== undefined;
  return isOld ? `${STATE_TEXTS[visible]} · as of ${clockTime(seen)}` : STATE_TEXTS[visible];
}

// The content of a part, without keys and ages, which differ each time.
function contentOf(part) {
  const copy = part.cloneNode(true);
  for (const input of copy.querySelectorAll("input[name=key]")) input.removeAttribute("value");
  for (const age of copy.querySelectorAll("[data-ago]")) age.replaceWith("");
  return copy.innerHTML.trim();
}

// The page is as the server has just sent it: at the start, and after the answer to a form.
export function pageReplaced() {
  answers += 1;
  isPageDue = false;
  hasNews = isDue || isBusy;
  seen = Number(main().dataset.seen ?? Date.now());
  known.clear();
  waiting.clear();
  // The answer to a refused form is not the current content; fetch that.
  const isRefusal = document.querySelector("main [role=alert]") !== null;
  if (!isRefusal) for (const part of parts()) known.set(part.dataset.live, contentOf(part));
  const tournament = main().dataset.follow ?? "";
  if (tournament !== followed) {
    feed?.close();
    followed = tournament;
    feed = tournament ? openFeed() : null;
  } else if (isRefusal && tournament) {
    plan();
  }
  // The service worker has shown the page of earlier.
  if (tournament && main().dataset.seen) refresh();
  if (dot) dot.hidden = !tournament;
  updateAges();
}

function openFeed() {
  const { key, epoch, seq } = main().dataset;
  showState("catching up");
  const onEvent = (name, data) => affectsPage(name, data) && refresh();
  return follow(followed, { key, epoch, seq: Number(seq), onEvent, onLost: refresh, onState: showState });
}

// Whether an event may change this page: on the page of one player, only the player's own games do.
function affectsPage(name, data) {
  const { whose } = main().dataset;
  return !whose || name !== "GameCreatedOrUpdated" || data.playerIds.includes(Number(whose));
}

// The page comes as a whole, so its parts need not be fetched beside it.
export function expectPage() {
  isPageDue = true;
}

// The page could not be had: its parts are asked for until they come, and say why they cannot.
export function missPage() {
  isPageDue = false;
  refresh();
}

// Fetch the parts after an event, or when events may have been missed.
function refresh() {
  hasNews = true;
  // After an event, retry at once.
  if (failures) began = 0;
  if (!isPageDue && !document.querySelector("form.pending")) plan();
  clearTimeout(settled);
  settled = setTimeout(plan, SETTLED_AFTER);
}

function plan() {
  isDue = true;
  if (isBusy) return;
  const pause = failures ? Math.min(RETRY_MAX, RETRY_MIN * 2 ** (failures - 1)) : EVERY;
  clearTimeout(timer);
  timer = setTimeout(fetchParts, Math.max(0, began + pause - Date.now()));
}

async function fetchParts() {
  isBusy = true;
  isDue = false;
  began = Date.now();
  const before = answers;
  try {
    const fetched = await fetchContents(parts().map((part) => part.dataset.live));
    closed = null;
    failures = 0;
    seen = Date.now();
    delete main().dataset.seen;
    keepParts(fetched.map(({ name, next }) => [name, next.innerHTML]));
    // The answer to a form came in the meantime, and is newer.
    if (before !== answers) isDue = true;
    else for (const { name, next } of fetched) compare(name, next);
  } catch (error) {
    closed = Array.isArray(error.cause) ? error.cause : null;
    if (closed === SIGNED_OUT) forgetNight();
    failures += 1;
    isDue = true;
  }
  isBusy = false;
  if (!followed) return;
  showState();
  showWaiting();
  if (isDue) plan();
}

// All parts in one request: the server reads the night once, and a phone counts as one visitor.
async function fetchContents(names) {
  if (names.length === 0) return [];
  const url = new URL(main().dataset.at, location.href);
  url.searchParams.set("part", names.join());
  const answer = await fetch(url, {
    cache: "no-store",
    // The server redirects to the sign-in page when the session is over.
    redirect: "manual",
    signal: AbortSignal.timeout(FETCH_WITHIN),
  });
  const cause = answer.type === "opaqueredirect" ? SIGNED_OUT : GONE.has(answer.status) ? CLOSED : null;
  if (!answer.ok) throw new Error(String(answer.status), { cause });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return names.map((name) => ({ name, next: page.querySelector(`[data-live="${name}"]`) }));
}

function compare(name, next) {
  const content = contentOf(next);
  // Below a refusal, the content without the refusal is not known yet.
  if (!known.has(name) && !hasNews) known.set(name, content);
  if (content === known.get(name)) waiting.delete(name);
  else waiting.set(name, { next, content });
}

// Replace the parts without unsent entries, once taps and scrolling have stopped.
function showWaiting() {
  clearTimeout(calmed);
  const rest = restUntilCalm();
  if (rest > 0) {
    calmed = setTimeout(showWaiting, rest);
    return;
  }
  for (const part of parts()) {
    // The answer to a pending form replaces the part anyway.
    if (part.querySelector("form.pending")) continue;
    const news = waiting.get(part.dataset.live);
    if (news && !isTouched(part)) replace(part, news);
    else markChanged(part, news !== undefined);
  }
}

function replace(part, { next, content }) {
  const name = part.dataset.live;
  waiting.delete(name);
  known.set(name, content);
  const link = document.activeElement?.getAttribute("href");
  const row = focusedRow();
  makeTaps(next);
  morphChildren(part, [...next.childNodes]);
  showChoices();
  for (const form of part.querySelectorAll("form")) form.reset();
  showTaps(part);
  if (link && document.activeElement === document.body) {
    part.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
  }
  if (row >= 0 && document.activeElement === document.body) focusRow(row);
  updateAges();
}

// Show or remove the note below a part that has changed and is not replaced.
function markChanged(part, isWaiting) {
  const existing = part.querySelector(".meanwhile");
  if (!isWaiting) existing?.remove();
  if (!isWaiting || existing) return;
  const note = document.createElement("p");
  note.className = "meanwhile";
  note.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = "Show";
  button.addEventListener("click", () => showOnRequest(part));
  note.append("Changed meanwhile. ", button);
  part.append(note);
}

// Replace the part on request, with the unsent entries filled in again.
function showOnRequest(part) {
  const news = waiting.get(part.dataset.live);
  if (!news) return;
  const entries = remember("");
  waiting.delete(part.dataset.live);
  known.set(part.dataset.live, news.content);
  part.replaceChildren(...news.next.childNodes);
  makeTaps(part);
  showChoices();
  restore(entries);
  showTaps(part);
  updateAges();
  if (document.activeElement === document.body) main().focus({ preventScroll: true });
}

// Keep the ages on the page current.
function updateAges() {
  for (const age of document.querySelectorAll("[data-ago]")) {
    age.dataset.from ??= String(Date.now() - Number(age.dataset.ago) * 1000);
    const minutes = Math.floor((Date.now() - Number(age.dataset.from)) / 60000);
    const hours = Math.floor(minutes / 60);
    age.textContent = minutes < 120 ? `${minutes} min` : hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
  }
}

function noteActivity() {
  if (waiting.size > 0) showWaiting();
}

// A computer that sleeps runs no timers, and has seen nothing meanwhile.
function noteTime() {
  if (dot.dataset.state === "live") seen = Date.now();
  updateAges();
}

if (dot) {
  onActivity(noteActivity);
  setInterval(noteTime, AGO_EVERY);
}

// Keeps the parts of the console up to date without a reload, as far as nothing moves; the rest is shown when a person
// asks for it, by the line in the header.

import { showImpossible } from "./impossible.js";
import { isTouched, remember, restore, showChoices } from "./keep.js";
import { follow } from "./live.js";
import { clockTime, forgetNight, keepParts } from "./seen.js";
import { updateInPlace } from "./still.js";
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
// Part name -> the words for what is left to be asked for.
const news = new Map();
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
// The number of times that the answer to a form has replaced the page.
let answers = 0;
// Whether the person has sent a form since the parts were asked for.
let isOwnDue = false;
// Which rows the page shows: these are sent again in their places, also when they are done.
const KEPT_ROW = /^(?:game|play)-\d+$/;

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

// The page is as the server has just sent it: at the start, and after the answer to a form.
export function pageReplaced() {
  answers += 1;
  seen = Number(main().dataset.seen ?? Date.now());
  news.clear();
  showNews();
  const tournament = main().dataset.follow ?? "";
  if (tournament !== followed) {
    feed?.close();
    followed = tournament;
    feed = tournament ? openFeed() : null;
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
  return follow(followed, { key, epoch, seq: Number(seq), onEvent, onLost: () => refresh(), onState: showState });
}

// Whether an event may change this page: on the page of one player, only the player's own games do.
function affectsPage(name, data) {
  const { whose } = main().dataset;
  return !whose || name !== "GameCreatedOrUpdated" || data.playerIds.includes(Number(whose));
}

// Fetch the parts after an event, after an entry, or when events may have been missed; what follows from a form of
// the person's own is shown wherever it goes.
export function refresh(isOwn = false) {
  isOwnDue ||= isOwn;
  // After an event, retry at once.
  if (failures) began = 0;
  plan();
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
  const asked = performance.now();
  const before = answers;
  const isOwn = isOwnDue;
  isOwnDue = false;
  try {
    const fetched = await fetchContents(true);
    closed = null;
    failures = 0;
    seen = Date.now();
    delete main().dataset.seen;
    keepParts(fetched.map(({ part, next }) => [part.dataset.live, next.innerHTML]));
    // The answer to a form came in the meantime, and is newer.
    if (before !== answers) isDue = true;
    else for (const { part, next } of fetched) update(part, next, asked, isOwn);
  } catch (error) {
    closed = Array.isArray(error.cause) ? error.cause : null;
    if (closed === SIGNED_OUT) forgetNight();
    failures += 1;
    isDue = true;
    isOwnDue ||= isOwn;
  }
  isBusy = false;
  if (!followed) return;
  showState();
  showNews();
  if (isDue) plan();
}

// All parts in one request: the server reads the night once, and a phone counts as one visitor.
async function fetchContents(keepsRows) {
  const shown = parts();
  if (shown.length === 0) return [];
  const url = new URL(main().dataset.at, location.href);
  url.searchParams.set("part", shown.map((part) => part.dataset.live).join());
  const rows = [...document.querySelectorAll("[data-row]")].map((row) => row.id).filter((id) => KEPT_ROW.test(id));
  if (keepsRows && rows.length) url.searchParams.set("keep", rows.join());
  const answer = await fetch(url, {
    cache: "no-store",
    // The server redirects to the sign-in page when the session is over.
    redirect: "manual",
    signal: AbortSignal.timeout(FETCH_WITHIN),
  });
  const cause = answer.type === "opaqueredirect" ? SIGNED_OUT : GONE.has(answer.status) ? CLOSED : null;
  if (!answer.ok) throw new Error(String(answer.status), { cause });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return shown.map((part) => ({ part, next: page.querySelector(`[data-live="${part.dataset.live}"]`) }));
}

function update(part, next, asked, isOwn) {
  makeTaps(next);
  // A player without a hand on the page sees their machine at once.
  const isForReading = main().dataset.whose !== undefined && !isTouched(part);
  const isLeft = updateInPlace(part, next, asked, isOwn || isForReading);
  if (isLeft) news.set(part.dataset.live, next.dataset.news ?? "Changed");
  else news.delete(part.dataset.live);
  showChoices();
  showTaps(part);
  showImpossible(part);
  updateAges();
}

// The line in the header that says what is new, and shows it.
function showNews() {
  const line = document.getElementById("news");
  if (!line) return;
  line.hidden = news.size === 0;
  const text = news.size ? `${news.get("play") ?? [...news.values()][0]}: show` : "";
  if (line.textContent !== text) line.textContent = text;
}

// Bring everything up to date, wherever it goes: the person has asked for it.
async function showEverything() {
  try {
    const fetched = await fetchContents(false);
    const entries = remember("");
    for (const { part, next } of fetched) {
      makeTaps(next);
      if (news.has(part.dataset.live)) part.replaceChildren(...next.childNodes);
    }
    news.clear();
    showChoices();
    restore(entries);
    showTaps(document);
    showImpossible(document);
    updateAges();
    scrollTo(0, 0);
    main().focus({ preventScroll: true });
  } catch {
    refresh();
  }
  showNews();
}

document.getElementById("news")?.addEventListener("click", showEverything);

// Keep the ages on the page current.
function updateAges() {
  for (const age of document.querySelectorAll("[data-ago]")) {
    age.dataset.from ??= String(Date.now() - Number(age.dataset.ago) * 1000);
    const minutes = Math.floor((Date.now() - Number(age.dataset.from)) / 60000);
    const hours = Math.floor(minutes / 60);
    age.textContent = minutes < 120 ? `${minutes} min` : hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
  }
}

// A computer that sleeps runs no timers, and has seen nothing meanwhile.
function noteTime() {
  if (dot.dataset.state === "live") seen = Date.now();
  updateAges();
}

if (dot) {
  setInterval(noteTime, AGO_EVERY);
}

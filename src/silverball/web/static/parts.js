// Keeps the parts of a public page up to date: changed parts are fetched and updated in place, so that
// focus, selection and scroll position stay.

import { follow } from "./live.js";
import { morph } from "./morph.js";
import "./timer.js";

// The shortest time between two fetches.
const PART_EVERY = 300;
// Fetch once more after the last event: another node may have answered before it knew of the event.
const SETTLED_AFTER = 1500;
const RETRY_MIN = 1000;
const RETRY_MAX = 30000;
const FETCH_WITHIN = 10000;
const RELOAD_EVERY = 60000;
const STATE_TEXTS = { live: "Live", "catching up": "Catching up", offline: "Offline" };

const main = document.querySelector("main[data-follow]");
const dot = document.getElementById("feed");
// The browser's clock minus the server's, in milliseconds.
let ahead = 0;

// A part whose number is computed in the background is fetched alone: nobody waits for it, and the answer
// with the other parts, which is the same for all screens, stays in the server's cache.
const batches = new Map();
const parts = [...document.querySelectorAll("[data-live]")].map((element) => {
  const name = element.dataset.live;
  const key = element.hasAttribute("data-alone") ? name : "";
  if (!batches.has(key)) batches.set(key, { isBusy: false, fetched: 0, failures: 0, timer: 0, names: "", etag: "" });
  return { element, name, batch: batches.get(key), isDue: false, settle: 0, again: 0 };
});
const partsOf = (batch) => parts.filter((part) => part.batch === batch);

let line = "catching up";
function showState(state = line) {
  line = state;
  const isBehind = parts.some(({ batch }) => batch.failures > 0);
  const visible = line === "live" && isBehind ? "catching up" : line;
  const text = STATE_TEXTS[visible];
  dot.dataset.state = visible;
  if (dot.lastElementChild.textContent !== text) dot.lastElementChild.textContent = text;
}

function update(part, page) {
  const next = page.querySelector(`[data-live="${part.name}"]`);
  if (!next) return;
  if (next.dataset.version !== main.dataset.version) reloadPage();
  const focused = document.activeElement;
  morph(part.element, next);
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  tick();
  document.dispatchEvent(new CustomEvent("silverball:shown", { detail: part.name }));
}

// The server has another version than this page: reload, but at most once a minute.
function reloadPage() {
  try {
    const last = Number(sessionStorage.getItem("silverball-renewed") ?? 0);
    if (Date.now() - last < RELOAD_EVERY) return;
    sessionStorage.setItem("silverball-renewed", String(Date.now()));
  } catch {
    return;
  }
  location.reload();
}

// All parts that are due in one request: the server reads the night once.
async function fetchDue(batch) {
  const due = partsOf(batch).filter((part) => part.isDue);
  batch.isBusy = true;
  let isNews = true;
  const began = Date.now();
  for (const part of due) part.isDue = false;
  try {
    isNews = await fetchParts(batch, due);
    batch.failures = 0;
  } catch {
    batch.failures += 1;
    for (const part of due) part.isDue = true;
  }
  batch.isBusy = false;
  // A fetch without changes does not delay the next one.
  if (isNews) batch.fetched = batch.failures ? Date.now() : began;
  showState();
  if (partsOf(batch).some((part) => part.isDue)) plan(batch);
  due.forEach(fetchAgain);
}

// Whether the answer had something new.
async function fetchParts(batch, due) {
  const names = due.map((part) => part.name).join();
  const url = new URL(location.href);
  url.hash = "";
  url.searchParams.set("part", names);
  const answer = await fetch(url, {
    // Only what these parts show now is compared: other parts together have changed some of it since.
    headers: names === batch.names && batch.etag ? { "if-none-match": batch.etag } : {},
    cache: "no-store",
    signal: AbortSignal.timeout(FETCH_WITHIN),
  });
  // The tournament is gone, or this server is of a version that answers parts one by one.
  if (answer.status === 404) reloadPage();
  if (!answer.ok && answer.status !== 304) throw new Error(String(answer.status));
  const date = Date.parse(answer.headers.get("date"));
  if (date) ahead = Date.now() - date;
  if (answer.status === 304) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of due) update(part, page);
  batch.names = names;
  batch.etag = answer.headers.get("etag") ?? "";
  return true;
}

// A part with a number that is being computed says when to look again: no event tells of it.
function fetchAgain(part) {
  clearTimeout(part.again);
  const seconds = Number(part.element.dataset.again ?? 0);
  if (seconds) part.again = setTimeout(planPart, seconds * 1000, part);
}

function planPart(part) {
  part.isDue = true;
  plan(part.batch);
}

function plan(batch) {
  if (batch.isBusy) return;
  const pause = batch.failures ? Math.min(RETRY_MAX, RETRY_MIN * 2 ** (batch.failures - 1)) : PART_EVERY;
  clearTimeout(batch.timer);
  batch.timer = setTimeout(fetchDue, Math.max(0, batch.fetched + pause - Date.now()), batch);
}

function refresh(part) {
  // After an event, retry at once.
  if (part.batch.failures) part.batch.fetched = 0;
  planPart(part);
  clearTimeout(part.settle);
  part.settle = setTimeout(planPart, SETTLED_AFTER, part);
}

function refreshAffected(name) {
  const affected = parts.filter(({ element }) =>
    element.dataset.on.split(" ").some((prefix) => name.startsWith(prefix)),
  );
  for (const part of affected.length ? affected : parts) refresh(part);
}

// Update the running clocks, and hide messages that have expired.
function tick() {
  const now = Date.now() - ahead;
  for (const element of document.querySelectorAll("time[data-since], time[data-until]")) {
    const { since, until } = element.dataset;
    const seconds = Math.max(0, Math.floor((since ? now - Date.parse(since) : Date.parse(until) - now) / 1000));
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    const clock = [minutes, seconds % 60].map((number) => String(number).padStart(2, "0")).join(":");
    element.textContent = hours ? `${hours}:${clock}` : clock;
  }
  for (const element of document.querySelectorAll("time[data-minutes]")) {
    const minutes = Math.max(0, Math.floor((now - Date.parse(element.dataset.minutes)) / 60000));
    element.textContent = minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
  }
  for (const message of document.querySelectorAll("[data-gone-at]")) {
    message.hidden = now > Date.parse(message.dataset.goneAt);
  }
}

if (main && dot) {
  dot.hidden = false;
  showState("catching up");
  tick();
  setInterval(tick, 1000);
  parts.forEach(fetchAgain);
  follow(main.dataset.follow, {
    key: main.dataset.key,
    epoch: main.dataset.epoch,
    seq: Number(main.dataset.seq),
    onEvent: refreshAffected,
    onLost: () => parts.forEach(refresh),
    onState: showState,
  });
}

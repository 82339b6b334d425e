// Keeps the parts of a public page up to date: changed parts are fetched and updated in place, so that
// focus, selection and scroll position stay.

import { follow } from "./live.js";
import { morph } from "./morph.js";
import "./timer.js";

// The shortest time between two fetches of a part.
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

const parts = [...document.querySelectorAll("[data-live]")].map((element) => ({
  element,
  name: element.dataset.live,
  etag: "",
  isBusy: false,
  isDue: false,
  fetched: 0,
  failures: 0,
  timer: 0,
  settle: 0,
  again: 0,
}));

let line = "catching up";
function showState(state = line) {
  line = state;
  const isBehind = parts.some((part) => part.failures > 0);
  const visible = line === "live" && isBehind ? "catching up" : line;
  const text = STATE_TEXTS[visible];
  dot.dataset.state = visible;
  if (dot.lastElementChild.textContent !== text) dot.lastElementChild.textContent = text;
}

function update(part, html) {
  const next = new DOMParser().parseFromString(html, "text/html").querySelector(`[data-live="${part.name}"]`);
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

async function fetchPart(part) {
  part.isBusy = true;
  part.isDue = false;
  let isNews = true;
  const began = Date.now();
  const url = new URL(location.href);
  url.hash = "";
  url.searchParams.set("part", part.name);
  try {
    const answer = await fetch(url, {
      headers: part.etag ? { "if-none-match": part.etag } : {},
      cache: "no-store",
      signal: AbortSignal.timeout(FETCH_WITHIN),
    });
    if (!answer.ok && answer.status !== 304) throw new Error(String(answer.status));
    const date = Date.parse(answer.headers.get("date"));
    if (date) ahead = Date.now() - date;
    isNews = answer.status !== 304;
    if (isNews) {
      const html = await answer.text();
      part.etag = answer.headers.get("etag") ?? "";
      update(part, html);
    }
    part.failures = 0;
  } catch {
    part.failures += 1;
    part.isDue = true;
  }
  part.isBusy = false;
  // A fetch without changes does not delay the next one.
  if (isNews) part.fetched = part.failures ? Date.now() : began;
  showState();
  if (part.isDue) plan(part);
  fetchAgain(part);
}

// A part with a number that is being computed says when to look again: no event tells of it.
function fetchAgain(part) {
  clearTimeout(part.again);
  const seconds = Number(part.element.dataset.again ?? 0);
  if (seconds) part.again = setTimeout(plan, seconds * 1000, part);
}

function plan(part) {
  part.isDue = true;
  if (part.isBusy) return;
  const pause = part.failures ? Math.min(RETRY_MAX, RETRY_MIN * 2 ** (part.failures - 1)) : PART_EVERY;
  clearTimeout(part.timer);
  part.timer = setTimeout(fetchPart, Math.max(0, part.fetched + pause - Date.now()), part);
}

function refresh(part) {
  // After an event, retry at once.
  if (part.failures) part.fetched = 0;
  plan(part);
  clearTimeout(part.settle);
  part.settle = setTimeout(plan, SETTLED_AFTER, part);
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

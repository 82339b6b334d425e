// Keeps the parts of a page as the server would show them now: what changed is fetched, and only that
// is replaced, so that the focus, the selection and the scrolling stay where they are.

import { follow } from "./live.js";
import { morph } from "./morph.js";

// A part is fetched at most so often.
const PART_EVERY = 300;
// Once more after it became quiet: another node may have answered from before the news reached it.
const SETTLED_AFTER = 1500;
const RETRY_MIN = 1000;
const RETRY_MAX = 30000;
const FETCH_WITHIN = 10000;
const RELOAD_EVERY = 60000;
const SAID = { live: "Live", "catching up": "Catching up", offline: "Offline" };

const main = document.querySelector("main[data-follow]");
const dot = document.getElementById("feed");
// Browser's clock minus the server's, in milliseconds.
let ahead = 0;

const parts = [...document.querySelectorAll("[data-live]")].map((element) => ({
  element,
  name: element.dataset.live,
  on: element.dataset.on.split(" "),
  etag: "",
  isBusy: false,
  isDue: false,
  fetched: 0,
  failures: 0,
  timer: 0,
  settle: 0,
}));

let line = "catching up";
function show(state = line) {
  line = state;
  const isBehind = parts.some((part) => part.failures > 0);
  const shown = line === "live" && isBehind ? "catching up" : line;
  dot.dataset.state = shown;
  if (dot.lastElementChild.textContent !== SAID[shown]) dot.lastElementChild.textContent = SAID[shown];
}

function take(part, html) {
  const next = new DOMParser().parseFromString(html, "text/html").querySelector(`[data-live="${part.name}"]`);
  if (!next) return;
  if (next.dataset.version !== main.dataset.version) renew();
  const focused = document.activeElement;
  morph(part.element, next);
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  tick();
  document.dispatchEvent(new CustomEvent("silverball:shown", { detail: part.name }));
}

// The server is of another version than this page: load it again, but never in circles.
function renew() {
  try {
    const last = Number(sessionStorage.getItem("silverball-renewed") ?? 0);
    if (Date.now() - last < RELOAD_EVERY) return;
    sessionStorage.setItem("silverball-renewed", String(Date.now()));
  } catch {
    return;
  }
  location.reload();
}

async function bring(part) {
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
      take(part, html);
    }
    part.failures = 0;
  } catch {
    part.failures += 1;
    part.isDue = true;
  }
  part.isBusy = false;
  // Having looked in vain is no reason to make the next news wait.
  if (isNews) part.fetched = part.failures ? Date.now() : began;
  show();
  if (part.isDue) plan(part);
}

function plan(part) {
  part.isDue = true;
  if (part.isBusy) return;
  const pause = part.failures ? Math.min(RETRY_MAX, RETRY_MIN * 2 ** (part.failures - 1)) : PART_EVERY;
  clearTimeout(part.timer);
  part.timer = setTimeout(bring, Math.max(0, part.fetched + pause - Date.now()), part);
}

function refresh(part) {
  // News is a reason to try again at once.
  if (part.failures) part.fetched = 0;
  plan(part);
  clearTimeout(part.settle);
  part.settle = setTimeout(plan, SETTLED_AFTER, part);
}

function happened(name) {
  const meant = parts.filter((part) => part.on.some((word) => name.startsWith(word)));
  for (const part of meant.length ? meant : parts) refresh(part);
}

// Times that go on by themselves: since when, or until when.
function tick() {
  const now = Date.now() - ahead;
  for (const one of document.querySelectorAll("time[data-since], time[data-until]")) {
    const { since, until } = one.dataset;
    const seconds = Math.max(0, Math.floor((since ? now - Date.parse(since) : Date.parse(until) - now) / 1000));
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    const clock = [minutes, seconds % 60].map((number) => String(number).padStart(2, "0")).join(":");
    one.textContent = hours ? `${hours}:${clock}` : clock;
  }
  for (const one of document.querySelectorAll("[data-gone-at]")) {
    one.hidden = now > Date.parse(one.dataset.goneAt);
  }
}

if (main && dot) {
  dot.hidden = false;
  show("catching up");
  tick();
  setInterval(tick, 1000);
  follow(main.dataset.follow, {
    key: main.dataset.key,
    epoch: main.dataset.epoch,
    seq: Number(main.dataset.seq),
    onEvent: happened,
    onLost: () => parts.forEach(refresh),
    onState: show,
  });
}

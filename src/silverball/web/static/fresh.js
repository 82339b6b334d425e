// Keeps the console as the server would show it now: what others did is there without a reload, and what
// somebody is entering is left alone. A part that is touched says "Changed meanwhile" and waits to be asked.

import { isTouched, remember, restore } from "./keep.js";
import { follow } from "./live.js";
import { morphChildren } from "./morph.js";
import { makeTaps, showTaps } from "./taps.js";

const EVERY = 500;
// Once more after it became quiet: another node may have answered from before the news reached it.
const SETTLED_AFTER = 1500;
const RETRY_MIN = 1000;
const RETRY_MAX = 30000;
const FETCH_WITHIN = 10000;
// Nothing moves under a thumb that has just tapped or scrolls.
const QUIET = 700;
const GONE = new Set([403, 404]);
const AGO_EVERY = 20000;
const SAID = { live: "Live", "catching up": "Catching up", offline: "Offline" };
const SIGNED_OUT = ["Signed out", "Sign in"];
const CLOSED = ["Closed to you", "Look"];

const dot = document.getElementById("feed");
// Part's name -> what the server last said of it.
const known = new Map();
// Part's name -> what it says by now, which somebody's entries keep from being shown.
const waiting = new Map();
let feed = null;
let followed = "";
let line = "catching up";
// Why the server does not show this page any more, and what the way on is called.
let closed = null;
let isBusy = false;
let isDue = false;
let failures = 0;
let began = 0;
let timer = 0;
let settled = 0;
let calmed = 0;
let touched = 0;
// Whether something happened since the server sent what stands there.
let hasNews = false;
// How often a form's answer has replaced the page.
let answers = 0;

const main = () => document.getElementById("main");
const parts = () => [...document.querySelectorAll("[data-live]")];

function say(state = line) {
  line = state;
  const shown = closed ? "offline" : line === "live" && failures ? "catching up" : line;
  const [told, way] = closed ?? [SAID[shown]];
  const text = dot.lastElementChild;
  dot.dataset.state = shown;
  if (text.dataset.told === told) return;
  text.dataset.told = text.textContent = told;
  if (!way) return;
  // In a page of its own: what is entered here stays here.
  const link = document.createElement("a");
  link.href = main().dataset.at;
  link.target = "_blank";
  link.textContent = way;
  text.append(": ", link);
}

// What a part says, without what is another one each time.
function saying(part) {
  const copy = part.cloneNode(true);
  for (const one of copy.querySelectorAll("input[name=key]")) one.removeAttribute("value");
  for (const one of copy.querySelectorAll("[data-ago]")) one.replaceWith("");
  return copy.innerHTML.trim();
}

// What stands there is what the server has just sent: at the beginning, and as the answer to a form.
export function shown() {
  answers += 1;
  hasNews = isDue || isBusy;
  known.clear();
  waiting.clear();
  // A refusal is not what the server says of itself; that is asked for.
  const isRefusal = document.querySelector("main [role=alert]") !== null;
  if (!isRefusal) for (const part of parts()) known.set(part.dataset.live, saying(part));
  const wanted = main().dataset.follow ?? "";
  if (wanted !== followed) {
    feed?.close();
    followed = wanted;
    feed = wanted ? followedFeed() : null;
  } else if (isRefusal && wanted) {
    plan();
  }
  if (dot) dot.hidden = !wanted;
  tellAges();
}

function followedFeed() {
  const { key, epoch, seq } = main().dataset;
  say("catching up");
  const onEvent = (name, data) => concerns(name, data) && refresh();
  return follow(followed, { key, epoch, seq: Number(seq), onEvent, onLost: refresh, onState: say });
}

// Whether it may change what stands here: on the page of one player only his own games do.
function concerns(name, data) {
  const { whose } = main().dataset;
  return !whose || name !== "GameCreatedOrUpdated" || data.playerIds.includes(Number(whose));
}

// Somebody did something, or something may have been missed.
function refresh() {
  hasNews = true;
  // News is a reason to try again at once.
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
  timer = setTimeout(look, Math.max(0, began + pause - Date.now()));
}

async function look() {
  isBusy = true;
  isDue = false;
  began = Date.now();
  const before = answers;
  try {
    const news = await Promise.all(parts().map(bring));
    closed = null;
    failures = 0;
    // A form was answered in the meantime, with something newer.
    if (before !== answers) isDue = true;
    else for (const { name, next } of news) offer(name, next);
  } catch (error) {
    closed = Array.isArray(error.cause) ? error.cause : null;
    failures += 1;
    isDue = true;
  }
  isBusy = false;
  if (!followed) return;
  say();
  settle();
  if (isDue) plan();
}

async function bring({ dataset: { live: name } }) {
  const url = new URL(main().dataset.at, location.href);
  url.searchParams.set("part", name);
  const answer = await fetch(url, {
    cache: "no-store",
    // Whoever is not known any more is sent to sign in.
    redirect: "manual",
    signal: AbortSignal.timeout(FETCH_WITHIN),
  });
  const cause = answer.type === "opaqueredirect" ? SIGNED_OUT : GONE.has(answer.status) ? CLOSED : null;
  if (!answer.ok) throw new Error(String(answer.status), { cause });
  return { name, next: new DOMParser().parseFromString(await answer.text(), "text/html").body };
}

function offer(name, next) {
  const said = saying(next);
  // Below a refusal it is not known what the server would have said without it.
  if (!known.has(name) && !hasNews) known.set(name, said);
  if (said === known.get(name)) waiting.delete(name);
  else waiting.set(name, { next, said });
}

// Show what may be shown: parts that nobody touches, once the thumb rests.
function settle() {
  clearTimeout(calmed);
  const rest = touched + QUIET - Date.now();
  if (rest > 0) {
    calmed = setTimeout(settle, rest);
    return;
  }
  for (const part of parts()) {
    // What is on its way brings the news itself.
    if (part.querySelector("form.pending")) continue;
    const news = waiting.get(part.dataset.live);
    if (news && !isTouched(part)) put(part, news);
    else mark(part, news !== undefined);
  }
}

function put(part, { next, said }) {
  const name = part.dataset.live;
  waiting.delete(name);
  known.set(name, said);
  const link = document.activeElement?.getAttribute("href");
  makeTaps(next);
  morphChildren(part, [...next.childNodes]);
  for (const form of part.querySelectorAll("form")) form.reset();
  showTaps(part);
  if (link && document.activeElement === document.body) {
    part.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
  }
  tellAges();
}

// The line below a part that has changed and is not replaced.
function mark(part, isWaiting) {
  const there = part.querySelector(".meanwhile");
  if (!isWaiting) there?.remove();
  if (!isWaiting || there) return;
  const told = document.createElement("p");
  told.className = "meanwhile";
  told.setAttribute("role", "status");
  const ask = document.createElement("button");
  ask.type = "button";
  ask.className = "quiet";
  ask.textContent = "Show";
  ask.addEventListener("click", () => showNow(part));
  told.append("Changed meanwhile. ", ask);
  part.append(told);
}

// Asked for: everything is new, and what is entered stands in it again.
function showNow(part) {
  const news = waiting.get(part.dataset.live);
  if (!news) return;
  const kept = remember("");
  waiting.delete(part.dataset.live);
  known.set(part.dataset.live, news.said);
  part.replaceChildren(...news.next.childNodes);
  makeTaps(part);
  restore(kept);
  showTaps(part);
  tellAges();
  if (document.activeElement === document.body) main().focus({ preventScroll: true });
}

// How long ago something was goes on by itself.
function tellAges() {
  for (const one of document.querySelectorAll("[data-ago]")) {
    one.dataset.from ??= String(Date.now() - Number(one.dataset.ago) * 1000);
    const minutes = Math.floor((Date.now() - Number(one.dataset.from)) / 60000);
    const hours = Math.floor(minutes / 60);
    one.textContent = minutes < 120 ? `${minutes} min` : hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
  }
}

function stir() {
  touched = Date.now();
  if (waiting.size === 0) return;
  clearTimeout(calmed);
  calmed = setTimeout(settle, QUIET);
}

if (dot) {
  for (const name of ["pointerdown", "pointerup", "keydown", "input", "focusout", "scroll"]) {
    document.addEventListener(name, stir, { capture: true, passive: true });
  }
  setInterval(tellAges, AGO_EVERY);
}

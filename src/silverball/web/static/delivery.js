// Sends the entries of the outbox until the server has answered each, and shows those that wait.

import { entriesOf, newKey, put, remove } from "./outbox.js";
import { forgetNight, isKept } from "./seen.js";

const RETRY_MIN = 1000;
const RETRY_MAX = 8000;
const TIMEOUT = 15000;
// The server could not act on it now; the same entry is sent again.
const BUSY = new Set([429, 500, 502, 503, 504]);
const SIGN_IN = "/account/sign-in";
const NO_CONNECTION = "waits for a connection";
const SIGNED_OUT = "waits until you sign in";
const OTHERS = "belongs to another account: sign in with it";
const KEEP_OPEN = "keep this page open";
const AGAIN_EVERY = 20000;
// The server need not make the page that a taken entry leads to: the phone confirms it before that.
export const WITHOUT_PAGE = { prefer: "return=minimal" };

// Keys of the entries that this page is sending.
const underWay = new Set();
// Key -> the reason why an entry has not been sent yet.
const reasons = new Map();
let wake = () => {};
// Form -> the end of its newest entry. Entries of one form are sent in the order of their taps.
const turns = new Map();
// Sends what waits; set by the page.
let deliverAgain = () => {};

// Until the pause is over, or something suggests that the network is back.
function pauseFor(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const previous = wake;
    wake = () => {
      clearTimeout(timer);
      previous();
      resolve();
    };
  });
}

function wakeAll() {
  const pending = wake;
  wake = () => {};
  pending();
  deliverAgain();
}

for (const name of ["online", "pageshow"]) addEventListener(name, wakeAll);
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && wakeAll());

export async function post(action, fields, headers = {}) {
  const body = new URLSearchParams(fields);
  return read(await fetch(action, { method: "POST", body, headers, signal: AbortSignal.timeout(TIMEOUT) }));
}

// The page at an address, as `post` returns it.
export async function get(url) {
  return read(await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT) }));
}

async function read(answer) {
  if (BUSY.has(answer.status)) throw new Error(String(answer.status));
  const { status, redirected } = answer;
  // Without its page, an answer names the address of it.
  const target = status === 204 ? answer.headers.get("location") : null;
  const url = target === null ? answer.url : new URL(target, answer.url).href;
  const html = target === null ? await answer.text() : "";
  return { status, html, url, isElsewhere: redirected || target !== null };
}

function parse(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

// The token of this page, which may be newer than the one that the form had.
function csrfOf(root) {
  return root.querySelector("input[name=csrf]")?.value ?? "";
}

// Nobody is signed in, or somebody else.
export function isSignedOut({ status, url }) {
  return status === 401 || status === 419 || new URL(url, location.href).pathname.startsWith(SIGN_IN);
}

// The account, or a scorekeeper's device: one that got a new link goes on with what it has entered.
export function isOwner(account, entry) {
  const isDevice = (name) => name.startsWith("device-");
  return entry.account === account || (isDevice(entry.account) && isDevice(account ?? ""));
}

// Why the server refused it, the fields with which it would be taken on purpose, and the page where it can be done.
function refusalOf(html) {
  const page = parse(html);
  const fault = page.querySelector("main [role=alert], main .fault") ?? page.querySelector("main p");
  const standing = fault?.querySelector(".standing")?.textContent ?? "";
  const link = fault?.querySelector("a.way");
  const way = link && { to: link.getAttribute("href"), words: link.textContent, isInstead: "instead" in link.dataset };
  for (const extra of fault?.querySelectorAll("a, .standing") ?? []) extra.remove();
  const refusal = fault?.textContent.trim().replace(/\s+/g, " ") ?? "The server refused it.";
  return { refusal, standing, way, renewal: fault?.dataset.renewal ?? "", choice: fault?.dataset.choice ?? "" };
}

// Send the entry until there is an answer; null when it was discarded or waits for a sign-in. Once this browser
// has stored it, the entry is shown as waiting.
async function sendUntilAnswered(entry, stored, onWaiting) {
  let pause = RETRY_MIN;
  let isRenewed = false;
  let csrf = csrfOf(document);
  while (underWay.has(entry.key)) {
    let answer = null;
    try {
      answer = await post(entry.action, [...entry.fields, ["csrf", csrf], ["key", entry.key]], WITHOUT_PAGE);
    } catch {
      reasons.set(entry.key, NO_CONNECTION);
      await stored;
      onWaiting();
      await showBar(entry.tournament, entry.account);
      await pauseFor(pause);
      pause = Math.min(pause * 2, RETRY_MAX);
      continue;
    }
    if (answer.status !== 419 || isRenewed) return answer;
    // The session is a new one: the page that came back has its token. It must be the same account's.
    const page = parse(answer.html);
    if (!isOwner(page.getElementById("main")?.dataset.account, entry)) return answer;
    isRenewed = true;
    csrf = csrfOf(page);
  }
  return null;
}

// Deliver an entry. Returns its answer and whether it was taken; null when it was discarded. A mistake in an
// entry that its form still shows is shown there; another one stays in the list.
export async function deliver(entry, onWaiting = () => {}, hasLeft = () => true) {
  if (underWay.has(entry.key)) return null;
  underWay.add(entry.key);
  const before = turns.get(entry.form);
  let endTurn = null;
  turns.set(entry.form, new Promise((resolve) => (endTurn = resolve)));
  const turn = turns.get(entry.form);
  // The disk is not waited for: an entry is confirmed by the server, and kept here in case it cannot be.
  const stored = put(entry);
  let tidying = stored;
  try {
    if (before) {
      reasons.set(entry.key, reasons.get(entry.key) ?? NO_CONNECTION);
      await stored;
      onWaiting();
      await showBar(entry.tournament, entry.account);
      await before;
    }
    const answer = await sendUntilAnswered(entry, stored, onWaiting);
    if (!answer) return null;
    reasons.delete(entry.key);
    if (isSignedOut(answer)) {
      reasons.set(entry.key, SIGNED_OUT);
      if (answer.status !== 419) forgetNight();
      return { answer, isTaken: false };
    }
    const isTaken = answer.isElsewhere;
    if (!isTaken) await stored;
    // The person's confirmation does not wait for this browser's disk: sent again, it would act once.
    if (isTaken) tidying = stored.then(() => forgetRefused(entry)).then(() => remove(entry.key));
    else if (answer.status === 422 && !hasLeft()) await remove(entry.key);
    // Somebody else was first, or it is over: a person decides.
    else await put({ ...entry, ...refusalOf(answer.html) });
    return { answer, isTaken };
  } finally {
    if (turns.get(entry.form) === turn) turns.delete(entry.form);
    endTurn();
    tidying.finally(() => {
      underWay.delete(entry.key);
      return showBar(entry.tournament, entry.account);
    });
  }
}

// Earlier refused entries of the same form are settled by the one that was taken.
async function forgetRefused({ tournament, account, form }) {
  for (const other of await entriesOf(tournament)) {
    if (other.form === form && isOwner(account, other) && other.refusal) await remove(other.key);
  }
}

// Send what earlier pages of this account left, now and as often as it may succeed; each end is passed on.
export async function deliverRest(tournament, account, onSending, onDone) {
  const send = (entry) => {
    reasons.set(entry.key, reasons.get(entry.key) ?? NO_CONNECTION);
    onSending(entry);
    deliver(entry).then((done) => onDone(entry, reasons.get(entry.key) === SIGNED_OUT ? null : done));
  };
  deliverAgain = async () => {
    for (const entry of await entriesOf(tournament)) {
      if (isOwner(account, entry) && !entry.refusal && !underWay.has(entry.key)) send(entry);
    }
    await showBar(tournament, account);
  };
  sendOnPurpose = (entry) => send(renewed(entry));
  setInterval(deliverAgain, AGAIN_EVERY);
  await deliverAgain();
}

// A person has seen what stands and sends the entry on: another request, about the game as it is now.
let sendOnPurpose = () => {};

function renewed({ refusal: _, standing: __, choice: ___, way: ____, renewal, ...entry }) {
  const fields = renewal ? JSON.parse(renewal) : {};
  return { ...entry, key: newKey(), fields: entry.fields.map(([name, value]) => [name, fields[name] ?? value]) };
}

function createElement(name, text, className = "") {
  const element = document.createElement(name);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

function createButton(text, act) {
  const button = createElement("button", text, "quiet");
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

export async function discard(entry) {
  underWay.delete(entry.key);
  await remove(entry.key);
  wakeAll();
  await showBar(entry.tournament, entry.account);
}

// The page that takes the entry over settles it once it has saved.
function createWay({ way, key }) {
  const link = createElement("a", way.words, "way");
  link.href = way.isInstead ? `${way.to}&${new URLSearchParams({ entry: key })}` : way.to;
  return link;
}

// What was entered was saved in another way.
export async function settle(key) {
  await remove(key);
  const { follow, account } = document.getElementById("main").dataset;
  await showBar(follow, account);
}

async function sendAgain(entry) {
  await remove(entry.key);
  sendOnPurpose(entry);
}

// What was entered, and what stands in its place or why it waits.
function createItem(entry, isOwn) {
  const item = createElement("li", "");
  item.append(createElement("bdi", entry.refusal ? `Entered here: ${entry.label}` : entry.label), " ");
  if (entry.standing) item.append(createElement("p", entry.standing));
  const reason = entry.refusal ?? (isOwn ? (reasons.get(entry.key) ?? "is being sent") : "");
  item.append(createElement("span", isOwn ? reason : OTHERS, "soft"));
  if (!isOwn) return item;
  if (entry.way) item.append(" ", createWay(entry));
  if (entry.refusal && (entry.renewal || !entry.way?.isInstead)) {
    item.append(" ", createButton(entry.choice || "Try again", () => sendAgain(entry)));
  }
  item.append(" ", createButton("Discard", () => discard(entry)));
  return item;
}

// Show on top of the page what has not been sent; nothing while all is well.
async function showBar(tournament, account) {
  const entries = await entriesOf(tournament);
  const shown = entries.filter((entry) => !underWay.has(entry.key) || reasons.has(entry.key));
  let bar = document.getElementById("outbox");
  if (!bar) {
    bar = document.createElement("details");
    bar.id = "outbox";
    bar.className = "outbox";
    const summary = createElement("summary", "");
    summary.append(createElement("span", ""));
    summary.firstChild.setAttribute("role", "status");
    bar.append(summary, createElement("ul", "", "list"));
    const notes = document.getElementById("notes");
    if (notes) notes.prepend(bar);
    else document.getElementById("main").before(bar);
  }
  const refused = shown.filter((entry) => entry.refusal).length;
  const counts = [[shown.length - refused, "not sent yet"], [refused, "not saved: look"]];
  bar.hidden = shown.length === 0;
  // Without a service worker there is no page to come back to before there is a network.
  const text = [...counts.filter(([count]) => count).map((pair) => pair.join(" ")), ...(isKept() ? [] : [KEEP_OPEN])]
    .join(" · ");
  bar.querySelector("[role=status]").textContent = text;
  bar.lastChild.replaceChildren(...shown.map((entry) => createItem(entry, isOwner(account, entry))));
}

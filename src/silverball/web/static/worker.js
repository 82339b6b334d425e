// The service worker: shows the console, a device's page and a player's page without a network, as they were
// seen last. The server puts `SHELL` in front of it: the version of the static files and their addresses.

const FILES = `silverball-files-${SHELL.version}`;
const PAGES = "silverball-pages";
// Pages of a night that are shown without a network. Others may hold secrets of the organizer.
const KEPT = /^\/t\/\d+\/(?:run(?:\/(?:standings|players|arenas|more|results|game|attempt))?|(?:players|games)\/\d+)$/;
const CONSOLE = /^\/t\/\d+\/run(?:\/|$)/;
const STATIC = /^\/static\/[^/]+$/;
const LEAVING = /^\/(?:account\/sign-out|t\/\d+\/device\/stop)$/;
const ACCOUNT = /<main [^>]*data-account="([^"]*)"/;
const PAGES_MAX = 60;
const FRESH_FOR = 5 * 60 * 1000;
// Pages of the console are not shown when the server was not heard from for as long.
const UNHEARD_MAX = 12 * 60 * 60 * 1000;
const ENDED = new Set([401, 403, 404, 410]);
// On a good line the server's answer is shown; on a slow one, the page that was seen last, at once.
const SLOW = 400;
const SLOW_TIMES = 2;
const PATIENCE = 2000;
const FILE_PATIENCE = 1500;
const BROKEN = new Set([502, 503, 504]);

// How often in a row the server was slow or could not be reached.
let slowAnswers = 0;

const isOurs = (url) => url.origin === location.origin;
const isPerson = (account) => account.startsWith("user-");
const isKept = (url) => isOurs(url) && KEPT.test(url.pathname) && !url.searchParams.has("part");
const after = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds, null));

addEventListener("install", (event) => event.waitUntil(fillShell().then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(dropOldFiles().then(() => clients.claim())));

async function fillShell() {
  const cache = await caches.open(FILES);
  await cache.addAll(SHELL.files);
}

async function dropOldFiles() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith("silverball-files-") && name !== FILES);
  await Promise.all(old.map((name) => caches.delete(name)));
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (!isOurs(url)) return;
  if (request.method === "POST" && LEAVING.test(url.pathname)) event.waitUntil(caches.delete(PAGES));
  if (request.method !== "GET") return;
  if (request.mode === "navigate" && isKept(url)) event.respondWith(answerPage(event, url));
  else if (STATIC.test(url.pathname)) event.respondWith(answerFile(request, url));
});

// The page from the server; the one seen last when the line is slow or there is none.
async function answerPage(event, url) {
  const fetched = timed(fetch(event.request));
  event.waitUntil(fetched.then((answer) => answer && keepPage(url, answer.clone())).catch(() => null));
  const seen = await findPage(url);
  if (!seen) return (await fetched) ?? missingPage(url);
  const wait = slowAnswers >= SLOW_TIMES || navigator.connection?.rtt >= SLOW ? 0 : PATIENCE;
  const answer = await Promise.race([fetched, after(wait)]);
  return answer && !BROKEN.has(answer.status) ? answer : markSeen(seen);
}

// The page that was seen last; none of the console after half a day without the server.
async function findPage(url) {
  const cache = await caches.open(PAGES);
  const seen = await cache.match(url);
  if (!seen || !CONSOLE.test(url.pathname) || Date.now() - seenAt(seen) < UNHEARD_MAX) return seen;
  const kept = await Promise.all((await cache.keys()).map((request) => cache.match(request)));
  const newest = Math.max(...kept.filter(Boolean).map(seenAt));
  if (Date.now() - newest < UNHEARD_MAX) return seen;
  await forgetConsole(() => true);
  return undefined;
}

const seenAt = (answer) => Number(answer.headers.get("x-seen"));

// The session or the right to a night is over: the pages leave, what waits to be sent stays.
function forgetEnded(path, isSignedOut) {
  const night = /^\/t\/\d+\//.exec(path)?.[0] ?? path;
  return forgetConsole((page, owner) => (isSignedOut ? isPerson(owner) : page.startsWith(night)));
}

async function forgetConsole(isMeant) {
  const cache = await caches.open(PAGES);
  for (const request of await cache.keys()) {
    const page = new URL(request.url).pathname;
    const owner = (await cache.match(request))?.headers.get("x-account") ?? "";
    if (CONSOLE.test(page) && isMeant(page, owner)) await cache.delete(request);
  }
}

// The answer, or null without a network; remembers whether the line is slow.
async function timed(fetched) {
  const began = Date.now();
  try {
    const answer = await fetched;
    slowAnswers = Date.now() - began > SLOW ? slowAnswers + 1 : 0;
    return answer;
  } catch {
    slowAnswers = SLOW_TIMES;
    return null;
  }
}

// The page tells when it was seen, and its script says so.
async function markSeen(seen) {
  const html = await seen.text();
  const headers = new Headers(seen.headers);
  const marked = html.replace('<main id="main"', `<main id="main" data-seen="${headers.get("x-seen")}"`);
  return new Response(marked, { headers });
}

async function keepPage(url, answer) {
  // The server redirects to the sign-in page when the session is over.
  const isSignedOut = answer.type === "opaqueredirect" || answer.redirected || answer.status === 401;
  const isEnded = isSignedOut || ENDED.has(answer.status);
  if (isEnded && CONSOLE.test(url.pathname)) await forgetEnded(url.pathname, isSignedOut);
  if (answer.status !== 200 || answer.redirected) return;
  const html = await answer.text();
  const account = ACCOUNT.exec(html)?.[1] ?? "";
  const cache = await caches.open(PAGES);
  await forgetOthers(cache, account);
  const headers = new Headers(answer.headers);
  headers.set("x-seen", String(Date.now()));
  headers.set("x-account", account);
  await cache.put(url, new Response(html, { headers }));
}

// Pages of another account leave the device, and the oldest of too many.
async function forgetOthers(cache, account) {
  const kept = await cache.keys();
  for (const request of kept.slice(0, Math.max(0, kept.length - PAGES_MAX))) await cache.delete(request);
  if (!isPerson(account)) return;
  for (const request of kept) {
    const owner = (await cache.match(request))?.headers.get("x-account") ?? "";
    if (isPerson(owner) && owner !== account) await cache.delete(request);
  }
}

function missingPage(url) {
  const night = /^\/t\/\d+/.exec(url.pathname)[0];
  const style = SHELL.files.find((file) => file.includes(".css"));
  const html = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>No connection</title>
<link rel="stylesheet" href="${style}"><main id="main"><section class="card"><h1>No connection</h1>
<p>This page has not been opened on this device before, so it cannot be shown without a connection.</p>
<p><a class="button" href="${night}/run">Back to the console</a></p></section></main></html>`;
  const policy = "default-src 'none'; style-src 'self'";
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": policy };
  return new Response(html, { status: 503, headers });
}

// An address with a version never changes. Modules import each other without one: the server's is newer.
async function answerFile(request, url) {
  const cache = await caches.open(FILES);
  const exact = url.search ? await cache.match(url) : null;
  if (exact) return exact;
  const other = await cache.match(url, { ignoreSearch: true });
  if (!other) return fetch(request);
  if (slowAnswers >= SLOW_TIMES) return other;
  const answer = await Promise.race([fetch(request).catch(() => null), after(FILE_PATIENCE)]);
  return answer?.ok || answer?.status === 304 ? answer : other;
}

// A page names the pages that are one tap away, so that they can be shown without a network, too.
addEventListener("message", (event) => event.waitUntil(heed(event.data)));

// Or that the server no longer knows it.
async function heed({ pages = [], ended }) {
  if (ended) await forgetEnded(ended, true);
  await warm(pages);
}

async function warm(addresses) {
  const cache = await caches.open(PAGES);
  for (const address of addresses) {
    const url = new URL(address, location.origin);
    if (!isKept(url)) continue;
    const seen = await cache.match(url);
    if (seen && Date.now() - Number(seen.headers.get("x-seen")) < FRESH_FOR) continue;
    const answer = await fetch(url, { redirect: "manual" }).catch(() => null);
    if (answer) await keepPage(url, answer);
  }
}

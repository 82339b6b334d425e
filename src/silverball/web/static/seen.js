// Keeps the page that is shown for times without a network: the service worker shows it after a reload.

const PAGES = "silverball-pages";
const KEEP_AFTER = 1000;

// Whether this page can be loaded again without a network: over https and on this machine only.
export const isKept = () => Boolean(navigator.serviceWorker?.controller);

// Register the service worker, and name the pages that are one tap away.
export async function keepNight() {
  if (!navigator.serviceWorker) return;
  try {
    await navigator.serviceWorker.register("/static/worker.js", { scope: "/" });
    const { active } = await navigator.serviceWorker.ready;
    const links = [...document.querySelectorAll(".bar a")].map((link) => link.href);
    active.postMessage({ pages: [location.href, ...links] });
  } catch {
    // A browser that refuses workers: what is entered waits as long as the page lives.
  }
}

// The session is over: what was kept of the console is not shown to whoever has the phone now.
export function forgetNight() {
  navigator.serviceWorker?.controller?.postMessage({ ended: location.pathname });
}

let timer = 0;

// The server has sent newer parts of this page: pairs of name and content.
export function keepParts(parts) {
  if (!isKept()) return;
  const address = location.href.split("#")[0];
  clearTimeout(timer);
  timer = setTimeout(() => storeParts(address, new Map(parts)), KEEP_AFTER);
}

async function storeParts(address, fresh) {
  const cache = await caches.open(PAGES);
  const old = await cache.match(address);
  if (!old) return;
  const page = new DOMParser().parseFromString(await old.text(), "text/html");
  for (const part of page.querySelectorAll("[data-live]")) {
    const html = fresh.get(part.dataset.live);
    if (html !== undefined) part.innerHTML = html;
  }
  const headers = new Headers(old.headers);
  headers.set("x-seen", String(Date.now()));
  await cache.put(address, new Response(`<!doctype html>\n${page.documentElement.outerHTML}`, { headers }));
}

// `22:41`, or `Tue 22:41` of an earlier day.
export function clockTime(moment) {
  const isToday = new Date(moment).toDateString() === new Date().toDateString();
  const day = isToday ? {} : { weekday: "short" };
  return new Date(moment).toLocaleTimeString("en-GB", { ...day, hour: "2-digit", minute: "2-digit" });
}

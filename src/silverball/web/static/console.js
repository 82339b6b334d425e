// The console, live: a result by a few taps, forms that are sent once however bad the Wi-Fi is.
// Without this file every form works as a plain form.

import { shown } from "./fresh.js";
import { remember, restore } from "./keep.js";
import { makeTaps, showTaps } from "./taps.js";

const TRIES = 6;
const FIRST_WAIT = 1000;
const TIMEOUT = 15000;
const BUSY = new Set([502, 503, 504]);

// Form id -> what is said while it is on its way.
const sending = new Map();

// A new secret for a new request; the server gives each form its first one.
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_");
}

function wait(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}

// What a form says about itself while it is on its way; null when it is not.
function show(id, text, isFault = false) {
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

// Replace the named parts of this page by those of the answer; without any, all of it.
function take({ html, url, isElsewhere }, sent) {
  const next = new DOMParser().parseFromString(html, "text/html");
  const parts = [...document.querySelectorAll("[data-live]")];
  const fresh = [...next.querySelectorAll("[data-live]")];
  const names = (list) => list.map((part) => part.dataset.live).join();
  const [main, old] = [next.getElementById("main"), document.getElementById("main")];
  // A page with another frame around it is gone to.
  if (!main || (isElsewhere && next.body.className !== document.body.className)) {
    location.assign(url);
    return;
  }
  const kept = remember(sent);
  const isSame = fresh.length > 0 && names(parts) === names(fresh);
  if (isSame) {
    parts.forEach((part, at) => part.replaceChildren(...fresh[at].childNodes));
  } else {
    old.replaceChildren(...main.childNodes);
    document.title = next.title;
    scrollTo(0, 0);
  }
  for (const name of Object.keys(old.dataset)) delete old.dataset[name];
  Object.assign(old.dataset, main.dataset);
  const here = new URL(url);
  // What a form answered by itself has no page of its own to come back to.
  if (isElsewhere) history.replaceState(null, "", here.pathname + here.search);
  shown();
  makeTaps(document);
  restore(kept);
  showTaps(document);
  for (const [id, text] of sending) show(id, text);
  const fault = document.querySelector("main [role=alert]");
  if (fault) {
    fault.tabIndex = -1;
    fault.focus();
    fault.scrollIntoView({ block: "center" });
  } else if (document.activeElement === document.body) {
    old.focus({ preventScroll: true });
  }
}

async function once(address, body) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), TIMEOUT);
  try {
    const answer = await fetch(address, { method: "POST", body, signal: stop.signal });
    if (BUSY.has(answer.status)) throw new Error(String(answer.status));
    return { html: await answer.text(), url: answer.url, isElsewhere: answer.redirected };
  } finally {
    clearTimeout(timer);
  }
}

function tell(id, text) {
  sending.set(id, text);
  show(id, text);
}

// The same key each time: whichever of the tries arrives, it acts once.
async function send(id, address, body) {
  tell(id, "Sending …");
  let pause = FIRST_WAIT;
  for (let left = TRIES; left > 0; left -= 1) {
    try {
      const answer = await once(address, body);
      sending.delete(id);
      show(id, null);
      take(answer, id);
      return;
    } catch {
      if (left > 1) {
        tell(id, "Not sent yet: no connection. Trying again …");
        await wait(pause);
        pause *= 2;
      }
    }
  }
  sending.delete(id);
  show(id, "Not sent: no connection. What you entered is still here; send it again.", true);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.matches("[data-once]")) return;
  event.preventDefault();
  // A second tap while the first is on its way is the same tap.
  if (sending.has(form.id)) return;
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const shown = JSON.stringify([...body].filter(([name]) => name !== "key"));
  if (form.dataset.sent && form.dataset.sent !== shown) {
    // Something else than what may have arrived already: another request.
    const key = newKey();
    form.elements.namedItem("key").value = key;
    body.set("key", key);
  }
  form.dataset.sent = shown;
  // A field of the form may be called "action" too.
  send(form.id, form.getAttribute("action"), body);
});

shown();
makeTaps(document);

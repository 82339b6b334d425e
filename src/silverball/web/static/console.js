// Sends the console's forms exactly once over an unreliable network, and replaces the page with the answer.
// Without this file every form works as a plain form.

import { pageReplaced } from "./fresh.js";
import { remember, restore } from "./keep.js";
import { makeTaps, showTaps } from "./taps.js";

const TRIES = 6;
const FIRST_WAIT = 1000;
const TIMEOUT = 15000;
const BUSY = new Set([502, 503, 504]);

// Form id -> the message shown while the form is being sent.
const sending = new Map();

// A new idempotency key; the server gives each form its first one.
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_");
}

function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

// Show a message below a form that is being sent; null when it is not.
function showMessage(id, text, isFault = false) {
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

// Replace the parts of the page by those of the answer; without parts, the whole page.
function replacePage({ html, url, isElsewhere }, sent) {
  const next = new DOMParser().parseFromString(html, "text/html");
  const parts = [...document.querySelectorAll("[data-live]")];
  const newParts = [...next.querySelectorAll("[data-live]")];
  const names = (list) => list.map((part) => part.dataset.live).join();
  const [main, old] = [next.getElementById("main"), document.getElementById("main")];
  // A page with another layout is loaded as a whole.
  if (!main || (isElsewhere && next.body.className !== document.body.className)) {
    location.assign(url);
    return;
  }
  const entries = remember(sent);
  const isSame = newParts.length > 0 && names(parts) === names(newParts);
  if (isSame) {
    parts.forEach((part, index) => part.replaceChildren(...newParts[index].childNodes));
  } else {
    old.replaceChildren(...main.childNodes);
    document.title = next.title;
    scrollTo(0, 0);
  }
  for (const name of Object.keys(old.dataset)) delete old.dataset[name];
  Object.assign(old.dataset, main.dataset);
  const target = new URL(url);
  // An answer without a redirect has no address to return to.
  if (isElsewhere) history.replaceState(null, "", target.pathname + target.search);
  pageReplaced();
  makeTaps(document);
  restore(entries);
  showTaps(document);
  for (const [id, text] of sending) showMessage(id, text);
  const fault = document.querySelector("main [role=alert]");
  if (fault) {
    fault.tabIndex = -1;
    fault.focus();
    fault.scrollIntoView({ block: "center" });
  } else if (document.activeElement === document.body) {
    old.focus({ preventScroll: true });
  }
}

async function post(address, body) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  try {
    const answer = await fetch(address, { method: "POST", body, signal: controller.signal });
    if (BUSY.has(answer.status)) throw new Error(String(answer.status));
    return { html: await answer.text(), url: answer.url, isElsewhere: answer.redirected };
  } finally {
    clearTimeout(timer);
  }
}

function setMessage(id, text) {
  sending.set(id, text);
  showMessage(id, text);
}

// Every try has the same idempotency key, so the form acts once whichever of them arrives.
async function send(id, address, body) {
  setMessage(id, "Sending …");
  let pause = FIRST_WAIT;
  for (let left = TRIES; left > 0; left -= 1) {
    try {
      const answer = await post(address, body);
      sending.delete(id);
      showMessage(id, null);
      replacePage(answer, id);
      return;
    } catch {
      if (left > 1) {
        setMessage(id, "Not sent yet: no connection. Trying again …");
        await wait(pause);
        pause *= 2;
      }
    }
  }
  sending.delete(id);
  showMessage(id, "Not sent: no connection. What you entered is still here; send it again.", true);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.matches("[data-once]")) return;
  event.preventDefault();
  // A second tap while the form is being sent is ignored.
  if (sending.has(form.id)) return;
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const content = JSON.stringify([...body].filter(([name]) => name !== "key"));
  if (form.dataset.sent && form.dataset.sent !== content) {
    // The content has changed since it was sent, so it is another request.
    const key = newKey();
    form.elements.namedItem("key").value = key;
    body.set("key", key);
  }
  form.dataset.sent = content;
  // form.action would be a field of that name.
  send(form.id, form.getAttribute("action"), body);
});

pageReplaced();
makeTaps(document);

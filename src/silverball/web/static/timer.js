// Counts round timers down, `<time data-timer="MOMENT">`: coloured for the last minutes, with a sound at the end.

import { FALLING, play } from "./chime.js";

const SOON_SECONDS = 120;
const OVER = "Time is up";
const PAUSE = 1000;

// The browser's clock minus the server's, in milliseconds; null until it is asked for.
let ahead = null;
// The ends that were seen before they came: they sound once.
const awaited = new Set();

async function compareClocks() {
  ahead = 0;
  try {
    const answer = await fetch("/up", { cache: "no-store" });
    const date = Date.parse(answer.headers.get("date"));
    if (date) ahead = Date.now() - date;
  } catch {
    // Without a network the own clock has to do.
  }
}

function showSeconds(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const clock = [minutes, seconds % 60].map((number) => String(number).padStart(2, "0")).join(":");
  return hours ? `${hours}:${clock}` : clock;
}

function showTimer(timer) {
  const end = timer.dataset.timer;
  const seconds = Math.ceil((Date.parse(end) - (Date.now() - ahead)) / 1000);
  const text = seconds > 0 ? showSeconds(seconds) : OVER;
  if (timer.textContent !== text) timer.textContent = text;
  timer.classList.toggle("soon", seconds > 0 && seconds <= SOON_SECONDS);
  timer.classList.toggle("late", seconds <= 0);
  if (seconds > 0) awaited.add(end);
  else if (awaited.delete(end)) play(FALLING);
}

function showTimers() {
  const timers = document.querySelectorAll("[data-timer]");
  if (timers.length && ahead === null) compareClocks();
  timers.forEach(showTimer);
}

// A replaced part of the page has its timers as the server wrote them.
new MutationObserver(showTimers).observe(document.getElementById("main"), {
  childList: true,
  subtree: true,
  attributes: true,
  attributeFilter: ["data-timer"],
});
setInterval(showTimers, PAUSE);
showTimers();

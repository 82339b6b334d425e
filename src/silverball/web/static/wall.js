// The wall: nothing scrolls. What does not fit is shown in turns, page by page.

const TURN_EVERY = 8000;
const boxes = [...document.querySelectorAll("[data-live]")];
const shown = new Map();

// How many pages a list takes and which rows stand on each.
function pagesOf(list) {
  const rows = [...list.children];
  for (const row of rows) row.hidden = false;
  const room = list.clientHeight;
  const pages = [[]];
  let used = 0;
  for (const row of rows) {
    const height = row.getBoundingClientRect().height;
    const page = pages.at(-1);
    if (page.length && used + height > room) {
      pages.push([row]);
      used = height;
    } else {
      page.push(row);
      used += height;
    }
  }
  return pages;
}

function turn(box, step) {
  for (const list of box.querySelectorAll("[data-turn]")) {
    const pages = pagesOf(list);
    const before = shown.get(list.dataset.turn) ?? 0;
    const page = (before + step) % pages.length;
    shown.set(list.dataset.turn, page);
    pages.forEach((rows, at) => rows.forEach((row) => (row.hidden = at !== page)));
    const said = box.querySelector("[data-pages]");
    if (said) said.textContent = pages.length > 1 ? `${page + 1} of ${pages.length}` : "";
  }
}

const turnAll = (step) => boxes.forEach((box) => turn(box, step));

// A screen on a wall does not go dark, where the browser lets us say so.
async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // The browser decides; the wall works all the same.
  }
}

document.addEventListener("silverball:shown", ({ detail }) => {
  turn(document.querySelector(`[data-live="${detail}"]`), 0);
});
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && stayAwake());
addEventListener("resize", () => turnAll(0));
setInterval(() => turnAll(1), TURN_EVERY);
turnAll(0);
stayAwake();

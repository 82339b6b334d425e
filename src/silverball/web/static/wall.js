// The wall never scrolls: lists that do not fit are shown in turns, page by page.

const TURN_EVERY = 8000;
const boxes = [...document.querySelectorAll("[data-live]")];
const shown = new Map();

// The rows of a list, divided into pages that fit the screen.
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
    pages.forEach((rows, index) => rows.forEach((row) => (row.hidden = index !== page)));
    const pageNumber = box.querySelector("[data-pages]");
    if (pageNumber) pageNumber.textContent = pages.length > 1 ? `${page + 1} of ${pages.length}` : "";
  }
}

const turnAll = (step) => boxes.forEach((box) => turn(box, step));

// Keep the screen on, where the browser allows it.
async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // The wall works without a wake lock.
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

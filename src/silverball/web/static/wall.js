// The wall never scrolls: lists that do not fit are shown in turns, page by page.

const TURN_EVERY = 8000;
const boxes = [...document.querySelectorAll("[data-live]")];
const shown = new Map();

// Sizes of the cards, the largest first: a factor of the text, the cards in a row, and the names in a line.
const SIZES = [[2, 2, 1], [1.6, 2, 1], [1.3, 3, 1], [1.15, 3, 1], [1, 3, 1], [1, 3, 2]];

// Make the cards as large as the screen allows without a second page.
function fit(list) {
  for (const [scale, columns, names] of SIZES) {
    list.style.setProperty("--scale", scale);
    list.style.setProperty("--columns", Math.min(columns, list.clientWidth < innerWidth / 2 ? 1 : innerWidth < innerHeight ? 2 : 3));
    list.style.setProperty("--names", names);
    if (list.scrollHeight <= list.clientHeight + 1) return;
  }
}

// Sizes of the standings: a factor of the text, and the columns.
const BOARDS = [[2, 1], [1.6, 1], [1.6, 2], [1.3, 2], [1.3, 3], [1.15, 3], [1, 3]];

// The rows of the standings in columns, down and then across, as large as the screen allows; pages when
// even the smallest do not fit.
function boardPages(list, rows) {
  const isWide = list.clientWidth > innerWidth / 2;
  const sizes = isWide ? BOARDS : [[1.3, 1], [1.15, 1], [1, 1]];
  for (const [scale, columns] of sizes) {
    list.style.setProperty("--scale", scale);
    list.style.setProperty("--rows", Math.max(1, Math.ceil(rows.length / columns)));
    if (list.scrollHeight <= list.clientHeight + 1) return [rows];
  }
  const high = rows[0].getBoundingClientRect().height;
  const perColumn = Math.max(1, Math.floor((list.clientHeight + 1) / high));
  const perPage = perColumn * (isWide ? 3 : 1);
  list.style.setProperty("--rows", perColumn);
  return Array.from({ length: Math.ceil(rows.length / perPage) }, (_, page) =>
    rows.slice(page * perPage, (page + 1) * perPage),
  );
}

// The rows of a list, divided into pages that fit the screen; rows may stand side by side.
function pagesOf(list) {
  const rows = [...list.children];
  for (const row of rows) row.hidden = false;
  if (list.matches(".board") && rows.length) return boardPages(list, rows);
  if (list.matches(".calls")) fit(list);
  const room = list.clientHeight + 1;
  const pages = [[]];
  let begin = rows[0]?.getBoundingClientRect().top ?? 0;
  for (const row of rows) {
    const { top, bottom } = row.getBoundingClientRect();
    if (pages.at(-1).length && bottom - begin > room) {
      pages.push([]);
      begin = top;
    }
    pages.at(-1).push(row);
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
    box.toggleAttribute("data-turning", pages.length > 1);
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

// "Find yourself" on the live page: this browser remembers the player that was chosen.

const section = document.getElementById("me");
const key = section && `silverball-me-${section.dataset.tournament}`;
// Whether the next name that is tapped is one's own.
let isChoosing = false;

function remembered() {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function remember(player) {
  try {
    if (player) localStorage.setItem(key, player);
    else localStorage.removeItem(key);
  } catch {
    // Without storage the list still leads to the player's page.
  }
}

// Show the player's line on top, and mark it in the list.
function show() {
  const player = remembered();
  const row = player && document.querySelector(`[data-player="${CSS.escape(player)}"]`);
  const [line, question, wrong] = section.children;
  line.hidden = !row;
  wrong.hidden = !row;
  question.hidden = Boolean(row);
  for (const mine of document.querySelectorAll("li.mine")) mine.classList.remove("mine");
  for (const lit of document.querySelectorAll(".slot.lit, .meets .mine")) lit.classList.remove("lit", "mine");
  if (!row) return;
  row.classList.add("mine");
  // The way through the bracket: lit as far as they have come.
  for (const seat of document.querySelectorAll(`[data-seat="${CSS.escape(player)}"]`)) {
    seat.classList.add("mine");
    seat.closest(".slot")?.classList.add("lit");
  }
  const [own] = line.children;
  own.href = row.firstElementChild.href;
  own.replaceChildren(...[...row.firstElementChild.childNodes].map((child) => child.cloneNode(true)));
  own.querySelector(".name").append(" (you)");
}

function choose(item) {
  remember(item.dataset.player);
  isChoosing = false;
  const field = document.getElementById("who");
  if (field) {
    field.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  show();
  section.querySelector(".you a").focus();
}

if (section) {
  document.addEventListener("click", (event) => {
    const item = event.target.closest("[data-player]");
    if (item && isChoosing) {
      event.preventDefault();
      choose(item);
    }
    if (event.target.closest("#me .ask a")) {
      event.preventDefault();
      isChoosing = true;
      document.getElementById("who")?.focus();
    }
    if (event.target.closest("#me button")) {
      remember("");
      show();
      section.querySelector(".ask a").focus();
    }
  });
  document.addEventListener("silverball:shown", show);
  addEventListener("pageshow", show);
  show();
}

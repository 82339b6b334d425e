// "Find yourself" on the live page: this browser remembers the player that was chosen.

const section = document.getElementById("me");
const key = section && `silverball-me-${section.dataset.tournament}`;

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

// Show the player on top, with the place, and mark the row of the standings.
function show() {
  const player = remembered();
  const link = player && section.querySelector(`[data-player="${CSS.escape(player)}"] a`);
  const [line, choice] = section.children;
  line.hidden = !link;
  choice.hidden = Boolean(link);
  for (const row of document.querySelectorAll("tr.mine")) row.classList.remove("mine");
  if (!link) return;
  const row = document.getElementById(`s${player}`);
  row?.classList.add("mine");
  const place = row?.firstElementChild.textContent;
  const [own] = line.children;
  own.href = link.href;
  own.textContent = `You: ${link.textContent.trim()}${place ? `, place ${place}` : ""}`;
}

if (section) {
  section.addEventListener("click", ({ target }) => {
    const item = target.closest("[data-player]");
    if (item) remember(item.dataset.player);
    if (target.closest("button")) {
      remember("");
      show();
      section.querySelector("summary").focus();
    }
  });
  document.addEventListener("silverball:shown", show);
  addEventListener("pageshow", show);
  show();
}

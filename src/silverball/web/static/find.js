// Filters a list by the letters typed into its search field, as often as either changes.

let typed = "";

function normalize(text) {
  return text.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase();
}

function filter() {
  for (const field of document.querySelectorAll("[data-find]")) {
    // A new part of the page has a new field.
    if (field.value !== typed && document.activeElement !== field) field.value = typed;
    const words = normalize(typed).split(/\s+/).filter(Boolean);
    for (const row of document.querySelectorAll(field.dataset.find)) {
      const text = normalize(row.textContent);
      const isHidden = !words.every((word) => text.includes(word));
      if (row.hidden !== isHidden) row.hidden = isHidden;
    }
  }
}

document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-find]")) return;
  typed = target.value;
  filter();
});

const main = document.getElementById("main");
new MutationObserver(() => typed && filter()).observe(main, {
  childList: true,
  subtree: true,
  attributes: true,
  attributeFilter: ["hidden"],
});

// Finishing orders by tap: the first player tapped is first, and the last player left is last.
// The select elements stay in the form and hold the places; without this file they are used directly.

const rowsOf = (box) => [...box.querySelectorAll(".place")];
const placeOf = (row) => Number(row.querySelector("select").value);

function setPlace(row, place) {
  row.querySelector("select").value = place ? String(place) : "";
}

// Show the places of the select elements on the buttons.
export function showTaps(root) {
  for (const box of root.querySelectorAll("[data-order].live")) {
    const rows = rowsOf(box);
    for (const row of rows) {
      const place = placeOf(row);
      const button = row.querySelector(".tap");
      button.querySelector(".nth").textContent = place || "";
      button.setAttribute("aria-pressed", String(place > 0));
      button.classList.toggle("self", place === rows.length && rows.length > 1);
    }
    showEnd(box, rows);
    const again = box.closest("form").querySelector(".over-again");
    if (again) again.style.visibility = rows.some(placeOf) ? "" : "hidden";
  }
}

const NTH = ["1st", "2nd", "3rd"];

// Save takes the place of the next thing to do once the order is full.
function showEnd(box, rows) {
  const end = box.closest("form").querySelector(".entry-end");
  if (!end) return;
  const next = rows.filter(placeOf).length + 1;
  const [line, save] = [end.querySelector(".waits"), end.querySelector("button")];
  line.hidden = next > rows.length;
  save.hidden = !line.hidden;
  const text = `${NTH[next - 1] ?? `${next}th`} place is next`;
  if (line.textContent !== text) line.textContent = text;
}

function tapRow(box, row) {
  const rows = rowsOf(box);
  const [place, count] = [placeOf(row), rows.length];
  const isDone = rows.every(placeOf);
  if (isDone && place === count) {
    // The last place was filled in automatically; a tap on it swaps the last two players.
    setPlace(rows.find((other) => placeOf(other) === count - 1), count);
    setPlace(row, count - 1);
  } else if (place) {
    // A second tap clears this place and all later ones.
    for (const other of rows) if (placeOf(other) >= place) setPlace(other, 0);
  } else {
    setPlace(row, rows.filter(placeOf).length + 1);
    const left = rows.filter((other) => !placeOf(other));
    if (left.length === 1 && count > 1) setPlace(left[0], count);
  }
}

function createButton(className, ...children) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = className;
  button.append(...children);
  return button;
}

// Add buttons to the select elements of places, in a page or in new content for it.
export function makeTaps(root) {
  for (const box of root.querySelectorAll("[data-order]:not(.live)")) {
    for (const row of rowsOf(box)) {
      const label = row.querySelector("label");
      const nth = document.createElement("span");
      nth.className = "nth insert";
      const name = document.createElement("bdi");
      name.textContent = label.textContent;
      row.append(createButton("tap seat", nth, name));
      row.querySelector("select").hidden = true;
      label.hidden = true;
    }
    const again = createButton("quiet over-again", "Start over");
    // Beside the submit button, so that nothing moves when it appears and disappears.
    const form = box.closest("form");
    (form.querySelector(":scope > button") ?? form.querySelector("h2"))?.after(again);
    box.classList.add("live");
  }
  showTaps(root);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.(".live .tap, .over-again");
  if (!button) return;
  const box = button.form.querySelector("[data-order].live");
  if (button.matches(".over-again")) {
    for (const row of rowsOf(box)) setPlace(row, 0);
    box.querySelector(".tap").focus();
  } else {
    tapRow(box, button.closest(".place"));
  }
  showTaps(button.form);
});

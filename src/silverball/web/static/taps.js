// Places by tap: the first player tapped is first, and who is left over is last.
// Without this file each place is chosen from a list; the lists stay, and hold what was tapped.

const rowsOf = (box) => [...box.querySelectorAll(".place")];
const placeOf = (row) => Number(row.querySelector("select").value);

function setPlace(row, place) {
  row.querySelector("select").value = place ? String(place) : "";
}

// The buttons say what the lists hold.
export function showTaps(root) {
  for (const box of root.querySelectorAll("[data-order].live")) {
    const rows = rowsOf(box);
    for (const row of rows) {
      const place = placeOf(row);
      const button = row.querySelector(".tap");
      button.querySelector(".nth").textContent = place || "";
      button.setAttribute("aria-pressed", String(place > 0));
    }
    const again = box.closest("form").querySelector(".over-again");
    if (again) again.hidden = !rows.some(placeOf);
  }
}

function tapped(box, row) {
  const rows = rowsOf(box);
  const [place, count] = [placeOf(row), rows.length];
  const isDone = rows.every(placeOf);
  if (isDone && place === count) {
    // Nobody tapped the one who was left over; now somebody says: this one was before the other.
    setPlace(rows.find((one) => placeOf(one) === count - 1), count);
    setPlace(row, count - 1);
  } else if (place) {
    // A second tap takes back this place and those that came after it.
    for (const other of rows) if (placeOf(other) >= place) setPlace(other, 0);
  } else {
    setPlace(row, rows.filter(placeOf).length + 1);
    const left = rows.filter((other) => !placeOf(other));
    if (left.length === 1 && count > 1) setPlace(left[0], count);
  }
}

function buttonOf(className, ...inside) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  made.append(...inside);
  return made;
}

// Lists of places become buttons, in a page or in what is going to be part of it.
export function makeTaps(root) {
  for (const box of root.querySelectorAll("[data-order]:not(.live)")) {
    for (const row of rowsOf(box)) {
      const label = row.querySelector("label");
      const nth = document.createElement("span");
      nth.className = "nth";
      const name = document.createElement("bdi");
      name.textContent = label.textContent;
      row.append(buttonOf("tap", nth, name));
      row.querySelector("select").hidden = true;
      label.hidden = true;
    }
    const again = buttonOf("quiet over-again", "Start over");
    again.hidden = true;
    // Beside the button that sends, so that nothing moves when it comes and goes.
    box.closest("form").querySelector(":scope > button")?.after(again);
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
    tapped(box, button.closest(".place"));
  }
  showTaps(button.form);
});

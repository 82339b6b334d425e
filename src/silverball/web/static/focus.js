// Keeps the keyboard at its place in the list of games while rows come and go.

// The place in the list of games where the keyboard is; -1 outside of it.
export function focusedRow() {
  const row = document.activeElement?.closest(".games > li");
  return row ? [...row.parentElement.children].indexOf(row) : -1;
}

// Go on where the person was: at the game that is in this place now, or else at the content.
export function focusRow(index) {
  const rows = document.querySelectorAll(".games > li");
  const row = index < 0 ? null : rows[Math.min(index, rows.length - 1)];
  const control = row?.querySelector("summary, button:not(.call-up)") ?? document.getElementById("main");
  control.focus({ preventScroll: true });
}

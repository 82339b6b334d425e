// Knows when the last touch was: nothing moves on a page while a finger is near.

// Milliseconds after the last touch until content may move.
export const CALM = 1500;

let touched = -Infinity;

// The milliseconds until the page is calm; 0 when it is.
export function restUntilCalm() {
  return Math.max(0, touched + CALM - performance.now());
}

export function onActivity(listener) {
  for (const name of ["pointerdown", "pointerup", "keydown", "input", "focusout", "scroll"]) {
    document.addEventListener(name, listener, { capture: true, passive: true });
  }
}

// Run the task once nobody has touched the page for a moment; a newer task of the same name replaces it.
const tasks = new Map();
let timer = 0;

export function whenCalm(name, task) {
  tasks.set(name, task);
  check();
}

function check() {
  clearTimeout(timer);
  if (tasks.size === 0) return;
  const rest = restUntilCalm();
  if (rest > 0) {
    timer = setTimeout(check, rest);
    return;
  }
  const due = [...tasks.values()];
  tasks.clear();
  for (const task of due) task();
}

onActivity(() => {
  touched = performance.now();
});

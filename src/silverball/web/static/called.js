// A player's page vibrates and sounds when the player is called: for a game that is new on it, or called again.

import { RISING, play } from "./chime.js";

const VIBRATION = [300, 120, 300, 120, 600];
const FLASH_FOR = 4000;

const callsOnPage = () => new Set([...document.querySelectorAll("[data-call]")].map(({ dataset }) => dataset.call));

let known = callsOnPage();

function ring() {
  navigator.vibrate?.(VIBRATION);
  document.documentElement.classList.add("called");
  setTimeout(() => document.documentElement.classList.remove("called"), FLASH_FOR);
  play(RISING);
}

function look() {
  const calls = callsOnPage();
  const isNew = [...calls].some((call) => !known.has(call));
  known = calls;
  if (isNew) ring();
}

new MutationObserver(look).observe(document.getElementById("main"), {
  childList: true,
  subtree: true,
  attributes: true,
  attributeFilter: ["data-call"],
});

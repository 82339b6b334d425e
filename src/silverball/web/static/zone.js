// Enters the browser's time zone in the form of a new tournament, and says so.

const note = document.querySelector("[data-zone-of]");
const field = note && document.getElementById(note.dataset.zoneOf);
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function show() {
  note.textContent = `Times are in ${field.value || "UTC"}; “Time and text” below has the zone.`;
}

if (field) {
  if (!field.value && zone) field.value = zone;
  field.addEventListener("input", show);
  show();
}

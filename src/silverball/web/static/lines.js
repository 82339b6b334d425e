// Moves to the next line of a list once a line is full or Enter is pressed; the last one leads to the button.

function goOn(field) {
  const fields = [...field.form.querySelectorAll("[data-digits]")];
  const next = fields[fields.indexOf(field) + 1] ?? field.form.querySelector("button:not([type=button])");
  next.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches?.("[data-digits]")) {
    event.preventDefault();
    goOn(event.target);
  }
});

document.addEventListener("input", (event) => {
  const field = event.target;
  if (field.matches?.("[data-digits]") && field.value.replace(/\D/g, "").length >= field.dataset.digits) goOn(field);
});

// Keeps settings that exclude each other from being chosen together, and says why at the setting; a button about
// what is ticked waits for a tick.
// Without this file the server refuses them with the same sentence.

function fieldOf(form, name) {
  return form.querySelector(`[name="${name}"]:not([type=hidden])`);
}

function valueOf(field) {
  if (field.type === "checkbox") return field.checked ? "on" : "";
  return field.value.trim();
}

function otherValueOf(field) {
  return field.checked ? "" : "on";
}

// The line below a field that says why a choice is not possible.
function explain(field, sentences) {
  const id = `${field.id || field.name}-why`;
  let line = document.getElementById(id);
  if (!line && sentences.size) {
    line = document.createElement("p");
    line.id = id;
    line.className = "hint why";
    line.setAttribute("role", "status");
    (field.closest("label") ?? field).after(line);
  }
  if (line) line.textContent = [...sentences].join(" ");
}

function forbid(field, excluded, sentences) {
  if (field.tagName === "SELECT") {
    for (const option of field.options) option.disabled = excluded.has(option.value) && !option.selected;
    field.setCustomValidity(excluded.has(valueOf(field)) ? [...sentences][0] : "");
  } else if (field.type === "checkbox") {
    field.setAttribute("aria-disabled", String(excluded.has(otherValueOf(field))));
  } else {
    field.setCustomValidity(excluded.has(valueOf(field)) ? [...sentences][0] : "");
  }
}

function update(form) {
  const rules = JSON.parse(form.dataset.impossible);
  for (const name of new Set(rules.map((rule) => rule.other))) {
    const field = fieldOf(form, name);
    if (!field) continue;
    const excluded = new Set();
    const sentences = new Set();
    for (const rule of rules.filter(({ other }) => other === name)) {
      const deciding = fieldOf(form, rule.field);
      if (!deciding || !rule.values.includes(valueOf(deciding))) continue;
      for (const value of rule.excluded) excluded.add(value);
      sentences.add(rule.sentence);
    }
    forbid(field, excluded, sentences);
    explain(field, sentences);
  }
}

export function showImpossible(root) {
  for (const form of root.querySelectorAll("form[data-impossible]")) update(form);
  for (const button of root.querySelectorAll("button[data-ticked]")) updateButton(button);
}

function updateButton(button) {
  button.disabled = !button.form.querySelector("input:checked");
}

// A box that may not be ticked, or unticked, stays as it is; the line below it says why.
document.addEventListener("click", (event) => {
  const field = event.target;
  if (field.matches?.("form[data-impossible] [type=checkbox][aria-disabled=true]")) event.preventDefault();
});

for (const kind of ["input", "change"]) {
  document.addEventListener(kind, ({ target }) => {
    const form = target.closest?.("form[data-impossible]");
    if (form) update(form);
    const button = target.form?.querySelector("button[data-ticked]");
    if (button) updateButton(button);
  });
}

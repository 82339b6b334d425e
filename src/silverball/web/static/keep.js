// Keeps the unsent entries of the console when the page around them is replaced.

const STATE_FIELDS = new Set(["csrf", "key", "form", "page", "then"]);

export function fieldsOf(form) {
  return [...form.elements].filter((field) => field.name && !STATE_FIELDS.has(field.name));
}

// Whether a field holds an unsent entry.
function isEntered(field) {
  if (field.type === "hidden") return false;
  // The server returned the form with the submitted values, so all of them are entries.
  if (field.form?.dataset.typed !== undefined) return true;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field instanceof HTMLSelectElement) {
    const first = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
    return first !== undefined && field.value !== first.value;
  }
  return "defaultValue" in field && field.value !== field.defaultValue;
}

// Whether replacing a piece of the page now would lose an entry, a message or the focus; `apart` leaves pieces in it
// out, which are replaced by themselves.
export function isTouched(piece, apart = "") {
  const isIn = (element) => !apart || !element.closest(apart);
  if ([...piece.querySelectorAll("[role=alert], form[data-typed], .sending.fault")].some(isIn)) return true;
  const focused = document.activeElement;
  if (focused?.matches("input, select, textarea") && piece.contains(focused) && isIn(focused)) return true;
  return [...piece.querySelectorAll("form")].filter(isIn).some((form) => fieldsOf(form).some(isEntered));
}

// The state to restore in new content: half-filled forms, open details, the focus.
export function remember(sent) {
  const forms = [];
  for (const form of document.querySelectorAll("form[data-once]")) {
    const values = fieldsOf(form).filter(isEntered);
    if (form.id !== sent && (values.length > 0 || form.dataset.sent)) {
      forms.push({
        id: form.id,
        key: form.elements.namedItem("key")?.value,
        sent: form.dataset.sent,
        typed: form.dataset.typed,
        values: values.map(({ name, value, checked, type }) => ({ name, value, isTicked: checked, type })),
      });
    }
  }
  const open = [...document.querySelectorAll("details[open]")].map((details) => details.querySelector("form")?.id);
  const focused = document.activeElement;
  const index = focused?.form ? [...focused.form.elements].indexOf(focused) : -1;
  return { forms, open, focus: focused?.form ? { id: focused.form.id, index } : null };
}

// Form id -> the choices that the next entry begins with.
const choices = new Map();

// After an entry the form begins with the same choices: the scorekeeper stands at one machine.
export function keepChoices(id) {
  const form = document.getElementById(id);
  choices.set(id, [...(form?.querySelectorAll("select") ?? [])].map(({ name, value }) => ({ name, value })));
}

export function showChoices() {
  for (const [id, chosen] of choices) {
    const form = document.getElementById(id);
    for (const { name, value } of form ? chosen : []) {
      const options = [...(form.elements[name]?.options ?? [])];
      const option = options.find((each) => each.value === value);
      // By default, so that it is not taken for something that has not been sent.
      for (const each of option ? options : []) each.defaultSelected = each === option;
    }
  }
}

export function restore(state) {
  for (const saved of state.forms) {
    const form = document.getElementById(saved.id);
    if (!form) continue;
    if (saved.sent) form.dataset.sent = saved.sent;
    if (saved.typed !== undefined) form.dataset.typed = saved.typed;
    if (saved.key) form.elements.namedItem("key").value = saved.key;
    for (const { name, value, isTicked, type } of saved.values) {
      const isBox = type === "checkbox" || type === "radio";
      const field = fieldsOf(form).find((each) => each.name === name && (!isBox || each.value === value));
      if (field && isBox) field.checked = isTicked;
      else if (field) field.value = value;
    }
  }
  for (const id of state.open) {
    const details = id && document.getElementById(id)?.closest("details");
    if (details) details.open = true;
  }
  const form = state.focus && document.getElementById(state.focus.id);
  if (form && document.activeElement === document.body) form.elements[state.focus.index]?.focus({ preventScroll: true });
}

// What somebody has entered on the console and not sent outlives whatever becomes of the page around it.

const FRAME = new Set(["csrf", "key", "form", "page", "then"]);

export function fieldsOf(form) {
  return [...form.elements].filter((field) => field.name && !FRAME.has(field.name));
}

// What somebody entered in a field and has not sent.
function entered(field) {
  if (field.type === "hidden") return false;
  // The server sent the form back as it was typed: all that stands in it is somebody's.
  if (field.form?.dataset.typed !== undefined) return true;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field instanceof HTMLSelectElement) {
    const first = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
    return first !== undefined && field.value !== first.value;
  }
  return "defaultValue" in field && field.value !== field.defaultValue;
}

// Whether something in there would be lost or slip away, were it replaced now.
export function isTouched(part) {
  if (part.querySelector("[role=alert], form[data-typed], .sending.fault")) return true;
  const here = document.activeElement;
  if (here?.form && part.contains(here)) return true;
  return [...part.querySelectorAll("form")].some((form) => fieldsOf(form).some(entered));
}

// Everything that must outlive new contents: half-filled forms, open details, the focus.
export function remember(sent) {
  const forms = [];
  for (const form of document.querySelectorAll("form[data-once]")) {
    const values = fieldsOf(form).filter(entered);
    if (form.id !== sent && (values.length > 0 || form.dataset.sent)) {
      forms.push({
        id: form.id,
        key: form.elements.namedItem("key")?.value,
        sent: form.dataset.sent,
        typed: form.dataset.typed,
        values: values.map((one) => ({ name: one.name, value: one.value, isTicked: one.checked, type: one.type })),
      });
    }
  }
  const open = [...document.querySelectorAll("details[open]")].map((one) => one.querySelector("form")?.id);
  const here = document.activeElement;
  const at = here?.form ? [...here.form.elements].indexOf(here) : -1;
  return { forms, open, focus: here?.form ? { id: here.form.id, at } : null };
}

export function restore(kept) {
  for (const one of kept.forms) {
    const form = document.getElementById(one.id);
    if (!form) continue;
    if (one.sent) form.dataset.sent = one.sent;
    if (one.typed !== undefined) form.dataset.typed = one.typed;
    if (one.key) form.elements.namedItem("key").value = one.key;
    for (const was of one.values) {
      const isBox = was.type === "checkbox" || was.type === "radio";
      const field = fieldsOf(form).find((here) => here.name === was.name && (!isBox || here.value === was.value));
      if (field && isBox) field.checked = was.isTicked;
      else if (field) field.value = was.value;
    }
  }
  for (const id of kept.open) {
    const details = id && document.getElementById(id)?.closest("details");
    if (details) details.open = true;
  }
  const form = kept.focus && document.getElementById(kept.focus.id);
  if (form && document.activeElement === document.body) form.elements[kept.focus.at]?.focus({ preventScroll: true });
}

// Groups the digits of a score while it is typed, and takes none that can be read in two ways.
// Without this file the server reads and refuses the same texts.

const MARKS = ",.'\u2019 \u00a0\u2009\u202f";
const GROUPED = new RegExp(`^[1-9][0-9]{0,2}([${MARKS}])[0-9]{3}(?:\\1[0-9]{3})*$`);
const INDIAN = /^[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}$/;
const SHORTENED = /^([0-9]{1,12})(?:[.,]([0-9]{1,9}))?\s?([a-z]{1,7})\.?$/i;
const ZEROS = { k: 3, m: 6, mil: 6, mio: 6, mill: 6, million: 6, b: 9, bn: 9, bil: 9, mrd: 9, billion: 9 };

const isGrouped = (text) => GROUPED.test(text) || INDIAN.test(text);
const group = (digits) => digits.replace(/^0+(?=[0-9])/, "").replace(/[0-9](?=(?:[0-9]{3})+$)/g, "$&,");

// The digits of a score; null for a text that is none.
function read(text) {
  if (/^[0-9]+$/.test(text)) return text;
  return isGrouped(text) ? text.replace(/[^0-9]/g, "") : null;
}

// The digits that 12.5M stands for; null where that is no whole score.
function lengthen(text) {
  const [, whole, part = "", unit] = SHORTENED.exec(text) ?? [];
  const zeros = ZEROS[unit?.toLowerCase()];
  const digits = part.replace(/0+$/, "");
  return zeros && digits.length <= zeros ? whole + digits.padEnd(zeros, "0") : null;
}

// The line below a field that says how its text is read.
function explain(field, text) {
  const id = `${field.id}-read`;
  let line = document.getElementById(id);
  if (!line && text) {
    line = document.createElement("p");
    line.id = id;
    line.className = "hint why";
    line.setAttribute("role", "status");
    field.after(line);
  }
  if (line) line.textContent = text;
}

// The caret stays behind the digit that it was behind.
function show(field, text) {
  if (field.value === text) return;
  const before = field.value.slice(0, field.selectionStart ?? field.value.length).replace(/[^0-9]/g, "").length;
  field.value = text;
  let at = 0;
  for (let digits = 0; at < text.length && digits < before; at += 1) if (/[0-9]/.test(text[at])) digits += 1;
  if (document.activeElement === field) field.setSelectionRange(at, at);
}

// Field -> its text before the next key.
const shown = new WeakMap();

document.addEventListener("focusin", ({ target }) => target.matches?.("input[data-score]") && shown.set(target, target.value));

// Only the commas of this file are moved: a mark that a person typed or pasted stays where it is.
document.addEventListener("input", ({ target: field, data, inputType = "" }) => {
  if (!field.matches?.("input[data-score]")) return;
  explain(field, "");
  const before = shown.get(field) ?? "";
  const wasGrouped = before === group(before.replaceAll(",", ""));
  const isTyped = !inputType.startsWith("insert") || /^[0-9]+$/.test(data ?? "");
  const bare = field.value.replaceAll(",", "");
  if (wasGrouped && isTyped && /^[0-9]+$/.test(bare)) show(field, group(bare));
  shown.set(field, field.value);
});

// Once more before it counts: grouped as it will be read, or not sent.
function check(field) {
  const text = field.value.trim();
  const digits = read(text);
  if (!text || digits !== null) {
    if (text) field.value = group(digits);
    return true;
  }
  const longer = lengthen(text);
  if (longer !== null) {
    field.value = group(longer);
    explain(field, `“${text}” is read as ${field.value}. Save it again if that is right.`);
  } else {
    explain(field, `“${text}” is not a score. Type all digits, as in 12500000 or 12,500,000.`);
  }
  return false;
}

document.addEventListener(
  "submit",
  (event) => {
    const fields = [...event.target.querySelectorAll("input[data-score]")];
    const wrong = fields.filter((field) => !check(field));
    if (wrong.length === 0) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    wrong[0].focus();
  },
  { capture: true },
);

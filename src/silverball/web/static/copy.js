// Copies the text of a field at a tap. Without this file the text is selected and copied by hand.

// Browsers offer the clipboard on secure pages only; a server in a hall often is none.
async function copyText(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-copy]");
  if (!button) return;
  const isCopied = await copyText(document.getElementById(button.dataset.copy));
  const note = button.parentElement.querySelector("[role=status]");
  note.textContent = isCopied ? "Copied." : "The text is selected; copy it by hand.";
});

document.documentElement.classList.add("can-copy");

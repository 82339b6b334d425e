// Shares the page of a link the way the phone does. Where it cannot, the link leads to that page.

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("a[data-share]");
  if (!link || !navigator.share || event.defaultPrevented) return;
  event.preventDefault();
  try {
    await navigator.share({ title: link.dataset.share, url: link.href });
  } catch {
    // The person has closed the sheet again.
  }
});

if (navigator.share) document.documentElement.classList.add("can-share");

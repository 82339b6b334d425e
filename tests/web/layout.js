// Measures the layout of a page; returns faults as sentences, none for a page that is as it should be.
([headerMax, targetMin, distanceMin]) => {
  const faults = [];
  // Code and secrets may break anywhere.
  const FREE = "textarea, select, script, pre, code, .secret, .foreign";
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && !element.closest(".hidden, .skip");
  const nameOf = (element) => `${element.tagName.toLowerCase()}.${element.className} "${element.textContent.trim().slice(0, 40)}"`;

  // A word on two lines; a hyphen is a place to break at.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !isShown(parent) || parent.closest(FREE)) continue;
    for (const { 0: word, index } of node.data.matchAll(/[^\s\u00ad\u2010-]+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
      // A hash is longer than any line.
      if (lines.size > 1 && word.length < 40) faults.push(`broken word "${word}" in ${nameOf(parent)}`);
    }
  }

  const width = document.documentElement.scrollWidth;
  if (width > innerWidth) faults.push(`the page is ${width} px wide in a window of ${innerWidth}`);

  // Text that is cut off without an ellipsis, outside of boxes that scroll.
  for (const element of document.body.querySelectorAll("*")) {
    const style = getComputedStyle(element);
    if (!isShown(element) || element.matches("input, textarea") || !/hidden|clip/.test(style.overflowX + style.overflowY)) continue;
    const isCut = element.scrollWidth > element.clientWidth + 1 && style.textOverflow !== "ellipsis";
    const isClamped = style.webkitLineClamp !== "none";
    if (isCut && element.clientWidth > 0 && !isClamped) faults.push(`text is cut off in ${nameOf(element)}`);
  }

  for (const header of document.querySelectorAll(".top, .night")) {
    const { height } = header.getBoundingClientRect();
    if (isShown(header) && height > headerMax + 0.5) faults.push(`the header is ${Math.round(height)} px high`);
  }

  const controls = [...document.querySelectorAll(
    "button, select, textarea, summary, input:not([type=hidden], [type=checkbox], [type=radio]), .choice, .button, nav a, a.row, header a",
  )].filter(isShown).filter((control) => !control.matches(".hidden *"));
  const boxes = controls.map((control) => control.getBoundingClientRect());
  controls.forEach((control, index) => {
    const { height, width } = boxes[index];
    // Letters are the one target that may be smaller.
    const least = control.matches(".letters a") ? 36 : targetMin;
    if (height < least - 0.5) faults.push(`target ${Math.round(height)} px high: ${nameOf(control)}`);
    if (width < least - 0.5) faults.push(`target ${Math.round(width)} px wide: ${nameOf(control)}`);
  });

  // Lists and bars touch by design; other controls keep apart.
  const isApart = (control) => !control.matches("nav a, header a, a.row, .choice, .bar *, .outbox *");
  const fixed = (element) => Boolean(element.closest(".bar, .feed, .outbox, .meanwhile, header"));
  controls.forEach((first, i) => {
    for (let j = i + 1; j < controls.length; j += 1) {
      const second = controls[j];
      if (!isApart(first) || !isApart(second) || fixed(first) || fixed(second)) continue;
      if (first.contains(second) || second.contains(first)) continue;
      const [a, b] = [boxes[i], boxes[j]];
      const across = Math.max(a.left - b.right, b.left - a.right);
      const down = Math.max(a.top - b.bottom, b.top - a.bottom);
      const distance = Math.max(across, down);
      if (distance < distanceMin - 0.5) faults.push(`${Math.round(distance)} px between ${nameOf(first)} and ${nameOf(second)}`);
    }
  });
  return [...new Set(faults)];
}

// Measures the layout of a page; returns faults as sentences, none for a page that is as it should be.
([headerMax, targetMin, distanceMin]) => {
  const faults = [];
  // Code and secrets may break anywhere.
  const FREE = "textarea, select, script, pre, code, .secret, .foreign";
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && !element.closest(".hidden, .skip");
  const nameOf = (element) => `${element.tagName.toLowerCase()}.${element.className} "${element.textContent.trim().slice(0, 40)}"`;

  // A word on two lines; a hyphen is a place to break at, and Chinese and Japanese break after any letter.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !isShown(parent) || parent.closest(FREE)) continue;
    for (const { 0: word, index } of node.data.matchAll(/[^\s\u00ad\u2010\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}-]+/gu)) {
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

  // Only names and titles may end in an ellipsis.
  const CUT = "bdi, :has(> bdi), h1, h3, h4, a, .meta, .meets .soft, .night p, .game-names";
  for (const element of document.body.querySelectorAll("*")) {
    if (getComputedStyle(element).textOverflow !== "ellipsis" || element.matches(CUT) || !isShown(element)) continue;
    if (element.scrollWidth > element.clientWidth + 1) faults.push(`an ellipsis in ${nameOf(element)}`);
  }

  // Lines of a bracket end at the middle of a match, and meet half way.
  const middle = (element) => { const { top, bottom } = element.getBoundingClientRect(); return (top + bottom) / 2; };
  for (const slot of [...document.querySelectorAll(".slot.goes, .slot.fed")].filter(isShown)) {
    const [share, match] = [slot.getBoundingClientRect(), (slot.querySelector(".match") ?? slot).getBoundingClientRect()];
    const off = Math.max(Math.abs(share.left - match.left), Math.abs(share.right - match.right), Math.abs(middle(slot) - (match.top + match.bottom) / 2));
    if (off > 1) faults.push(`a line ends ${off.toFixed(1)} px beside ${nameOf(slot)}`);
    const column = slot.closest(".column").nextElementSibling;
    if (!slot.matches(".goes") || !column) continue;
    const at = [...slot.parentElement.children].indexOf(slot);
    const isHalved = slot.parentElement.matches(".halved");
    const next = column.querySelectorAll(".slot")[isHalved ? Math.floor(at / 2) : at];
    const end = isHalved ? (at % 2 ? share.top : share.bottom) : middle(slot);
    if (Math.abs(end - middle(next)) > 1) faults.push(`a line misses ${nameOf(next)} by ${(end - middle(next)).toFixed(1)} px`);
    const long = parseFloat(getComputedStyle(slot, "::after").width) + parseFloat(getComputedStyle(next, "::before").width);
    const gap = next.getBoundingClientRect().left - share.right;
    if (Math.abs(long - gap) > 1) faults.push(`lines of ${long} px fill a gap of ${gap.toFixed(1)} px after ${nameOf(slot)}`);
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

  // No control lies over a name; what sticks to an edge does so by design.
  const sticks = (element) => element.closest(".bar, .feed, .outbox, .meanwhile, .night, .finder, .you");
  const names = [...document.querySelectorAll("bdi")].filter(isShown).filter((name) => !sticks(name));
  // What a box around a name cuts off cannot be covered.
  const shownBox = (element) => {
    let { left, right, top, bottom } = element.getBoundingClientRect();
    for (let box = element.parentElement; box; box = box.parentElement) {
      if (!/hidden|clip/.test(getComputedStyle(box).overflowY)) continue;
      const around = box.getBoundingClientRect();
      [left, right] = [Math.max(left, around.left), Math.min(right, around.right)];
      [top, bottom] = [Math.max(top, around.top), Math.min(bottom, around.bottom)];
    }
    return { left, right, top, bottom };
  };
  for (const name of names) {
    const a = shownBox(name);
    const over = controls.findIndex((control, index) => {
      const b = boxes[index];
      const covers = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
      return covers && !control.contains(name) && !name.contains(control) && !sticks(control);
    });
    if (over >= 0) faults.push(`${nameOf(controls[over])} lies over ${nameOf(name)}`);
  }
  return [...new Set(faults)];
}

// Updates a part of a page to newer content in place, so that focus and selection survive.

// What a person has opened stays open.
const OPENED = new Set(["DETAILS", "DIALOG"]);

// Make `old` look like `next` and keep every element that can stay.
export function morph(old, next) {
  if (old.isEqualNode(next)) return;
  if (old.nodeType !== next.nodeType || old.nodeName !== next.nodeName) {
    old.replaceWith(next);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = next.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !(name === "open" && OPENED.has(old.nodeName))) old.removeAttribute(name);
  }
  // A request that is on its way, or is sent again, keeps its key.
  const isKey = old.nodeName === "INPUT" && old.name === "key";
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !(isKey && name === "value")) old.setAttribute(name, value);
  }
  morphChildren(old, [...next.childNodes]);
}

export function morphChildren(old, wanted) {
  const byId = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  const stays = new Set(wanted.map((child) => child.id).filter((id) => id && byId.has(id)));
  let at = old.firstChild;
  for (const child of wanted) {
    const same = child.id ? byId.get(child.id) : null;
    if (same) {
      if (same === at) at = at.nextSibling;
      else old.insertBefore(same, at);
      morph(same, child);
    } else if (at && !child.id && !stays.has(at.id)) {
      const following = at.nextSibling;
      morph(at, child);
      at = following;
    } else {
      old.insertBefore(child, at);
    }
  }
  while (at) {
    const following = at.nextSibling;
    // What is said about a form that was sent stays.
    if (!stays.has(at.id) && !at.matches?.(".sending")) at.remove();
    at = following;
  }
}

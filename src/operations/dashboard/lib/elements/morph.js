/**
 * Updates elements in the document without replacing them, so that focus, selection, open details and typed text
 * survive.
 *
 * - `data-key` identifies a child within its parent; without it children are matched by position and tag.
 * - `data-keep` protects an element and its content while the value stays the same; with another value the whole
 *   element is replaced. `kept` in dom.js creates such elements.
 */

import { buildKept } from './dom.js';

/** @import { HandlerName } from './element-types.js' */

const KEEP = 'data-keep';
/** @type {HandlerName[]} */
const HANDLERS = ['onclick', 'onsubmit', 'oninput', 'onchange'];
/** Details that the user opened stay open; a button stays disabled while its action runs. */
const UNMANAGED = new Set(['open', 'aria-disabled']);

/** @param {Element} parent @param {ChildNode[]} nodes */
export function morph(parent, nodes) {
  /** @type {Map<string, ChildNode>} */
  const keyed = new Map();
  const wanted = new Set(nodes.map(keyOf));
  for (const child of [...parent.children]) {
    const key = keyOf(child);
    if (key === undefined) continue;
    // Removed first: otherwise what follows would be moved before it, and an element that moves loses the focus.
    if (wanted.has(key)) keyed.set(key, child);
    else child.remove();
  }
  let place = parent.firstChild;
  for (const node of nodes) {
    const match = matching(node, place, keyed);
    if (match === null) {
      buildKept(node);
      parent.insertBefore(node, place);
    } else {
      if (match === place) place = place.nextSibling;
      else parent.insertBefore(match, place);
      update(match, node);
    }
  }
  while (place !== null) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

/** @param {Node} node */
function keyOf(node) {
  return node instanceof HTMLElement ? node.dataset.key : undefined;
}

/** @param {ChildNode} node @param {ChildNode | null} place @param {Map<string, ChildNode>} keyed */
function matching(node, place, keyed) {
  const key = keyOf(node);
  if (key !== undefined) {
    const match = keyed.get(key);
    keyed.delete(key);
    return match?.nodeName === node.nodeName ? match : null;
  }
  const fits = place !== null && place.nodeName === node.nodeName && keyOf(place) === undefined;
  return fits ? place : null;
}

/** @param {ChildNode} old @param {ChildNode} next of the same name */
function update(old, next) {
  if (old instanceof Text && next instanceof Text) {
    if (old.data !== next.data) old.data = next.data;
  } else if (old instanceof Element && next instanceof Element) updateElement(old, next);
}

/** @param {Element} old @param {Element} next */
function updateElement(old, next) {
  const keep = old.getAttribute(KEEP);
  if (keep !== null || next.hasAttribute(KEEP)) {
    if (keep === next.getAttribute(KEEP)) return;
    buildKept(next);
    old.replaceWith(next);
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !UNMANAGED.has(name)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !UNMANAGED.has(name)) old.setAttribute(name, value);
  }
  if (old instanceof HTMLElement && next instanceof HTMLElement) {
    for (const handler of HANDLERS) Object.assign(old, { [handler]: next[handler] });
  }
  morph(old, [...next.childNodes]);
}

/**
 * Brings elements that are on the page to a new state without replacing them, so that focus, selection, open
 * details, typed text and playing media survive an update.
 *
 * - `data-key` tells children of one parent apart; without it they are matched by place and tag.
 * - `data-keep` leaves an element and all in it alone for as long as the value stays the same; with another value
 *   the element is replaced as a whole. `kept` in dom.js makes such elements.
 */

import { buildKept } from './dom.js';

const HANDLERS = ['onclick', 'onsubmit', 'oninput', 'onchange', 'onkeydown'];
/** What the reader has opened stays open; a button stays disabled while its order runs. */
const READERS_OWN = new Set(['open', 'aria-disabled']);

export function morph(parent, nodes) {
  const keyed = new Map();
  for (const child of parent.children) {
    if (child.dataset?.key !== undefined) keyed.set(child.dataset.key, child);
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

function matching(node, place, keyed) {
  const key = node.dataset?.key;
  if (key !== undefined) {
    const match = keyed.get(key);
    keyed.delete(key);
    return match?.nodeName === node.nodeName ? match : null;
  }
  const fits = place !== null && place.nodeName === node.nodeName && place.dataset?.key === undefined;
  return fits ? place : null;
}

function update(old, next) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  if (old.dataset.keep !== undefined || next.dataset.keep !== undefined) {
    if (old.dataset.keep === next.dataset.keep) return;
    buildKept(next);
    old.replaceWith(next);
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !READERS_OWN.has(name)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !READERS_OWN.has(name)) old.setAttribute(name, value);
  }
  for (const handler of HANDLERS) old[handler] = next[handler];
  morph(old, [...next.childNodes]);
}

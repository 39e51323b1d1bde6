/**
 * The only place that creates elements. Text becomes text nodes, never markup: transcripts, file names and headers
 * come from untrusted sources.
 */

/** @import { Child, Properties } from './element-types.js' */

/** In-page routes and the admin API: no other address is linked to or loaded. */
const SAFE_ADDRESS = /^(#|admin\/api)\//;
const ADDRESS_ATTRIBUTES = new Set(['href', 'src']);
/** Attributes that could run code or change the style of the page. */
const FORBIDDEN = /^(style|srcdoc|action|formaction|xlink:href|srcset|on.*)$/i;
const SVG = 'http://www.w3.org/2000/svg';

/**
 * Creates an HTML element. Event handlers such as `onclick` take a function; `undefined`, `null` and `false` omit an
 * attribute. Throws for forbidden attributes and for addresses outside the page and the API.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Properties<HTMLElementTagNameMap[T]>} properties @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/**
 * Content of kept elements that are not in the document yet.
 * @type {WeakMap<Element, () => Child>}
 */
const unbuilt = new WeakMap();

/**
 * An element whose content renders do not touch while `version` stays the same: for forms, previews and whatever a view
 * writes into later. `build` returns the children and runs only when the element enters the document, so that a render
 * cannot take the children of the element that is already there.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Properties<HTMLElementTagNameMap[T]>} properties @param {string} version
 * @param {() => Child} build
 */
export function kept(tag, properties, version, build) {
  const element = h(tag, { ...properties, 'data-keep': version });
  unbuilt.set(element, build);
  return element;
}

/**
 * Builds the content of kept elements in a node that is about to enter the document.
 * @param {Node} node
 */
export function buildKept(node) {
  if (!(node instanceof Element)) return;
  const build = unbuilt.get(node);
  if (build !== undefined) {
    unbuilt.delete(node);
    node.append(...nodesOf([build()]));
  }
  for (const child of node.children) buildKept(child);
}

/**
 * The same as `h` for SVG.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Properties<SVGElementTagNameMap[T]>} properties @param {Child[]} children
 */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/**
 * @template {Element} E
 * @param {E} element @param {Properties<E>} properties @param {Child[]} children
 */
function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') Object.assign(element, { [name]: value });
    else element.setAttribute(name, checked(name, value === true ? '' : String(value)));
  }
  element.append(...nodesOf(children));
  return element;
}

/** @param {string} name @param {string} value */
function checked(name, value) {
  if (FORBIDDEN.test(name)) throw new Error(`the attribute ${name} is not used here`);
  if (ADDRESS_ATTRIBUTES.has(name) && !SAFE_ADDRESS.test(value)) throw new Error('unknown address');
  return value;
}

/**
 * Flattens children and drops `null`, `undefined` and `false`.
 * @param {readonly Child[]} children @returns {Node[]}
 */
function nodesOf(children) {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    if (typeof child === 'object' && !(child instanceof Node)) return nodesOf(child);
    return [child instanceof Node ? unplaced(child) : document.createTextNode(String(child))];
  });
}

/**
 * Appending an element that is in the document would remove it from there silently. Every render creates its own.
 * @param {Node} node
 */
function unplaced(node) {
  if (node.isConnected)
    throw new Error(`this ${node.nodeName} is in the document already; use kept() for content that stays`);
  return node;
}

/**
 * A link within the page or to the API.
 * @param {string} href @param {Child[]} text
 */
export function link(href, ...text) {
  return h('a', { href }, ...text);
}

/**
 * An element of index.html.
 * @param {string} id
 */
export function elementById(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no element with the id ${id}`);
  return element;
}

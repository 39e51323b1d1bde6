/**
 * The only place where elements are made. Text becomes text nodes, never markup: transcripts, file names and
 * headers come from strangers.
 */

/** In-page routes and the admin API: nothing else is ever linked to or loaded. */
const SAFE_ADDRESS = /^(#\/|\/admin\/api\/)/;
const ADDRESS_ATTRIBUTES = new Set(['href', 'src']);
/** Attributes that could run something or dress the page up. */
const FORBIDDEN = /^(style|srcdoc|action|formaction|xlink:href|srcset|on.*)$/i;
const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an HTML element. A property `onclick` and the like takes a function; `undefined`, `null` and `false`
 * leave an attribute out. Throws for attributes and addresses that have no business here.
 */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** Contents of kept elements that are not on the page yet. */
const unbuilt = new WeakMap();

/**
 * An element whose content belongs to the reader: it is built once, when the element comes onto the page, and then
 * left alone for as long as `version` stays the same. For forms, previews and whatever else a view writes into later;
 * `build` returns the children and runs only when they are needed, so a render can never take them off the page.
 */
export function kept(tag, properties, version, build) {
  const element = h(tag, { ...properties, 'data-keep': version });
  unbuilt.set(element, build);
  return element;
}

/** Builds what `kept` put off, in an element that is about to come onto the page. */
export function buildKept(element) {
  const build = unbuilt.get(element);
  if (build !== undefined) {
    unbuilt.delete(element);
    element.append(...nodesOf([build()]));
  }
  for (const child of element.children ?? []) buildKept(child);
}

/** The same as `h` for SVG. */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element[name] = value;
    else element.setAttribute(name, checked(name, value === true ? '' : String(value)));
  }
  element.append(...nodesOf(children));
  return element;
}

function checked(name, value) {
  if (FORBIDDEN.test(name)) throw new Error(`the attribute ${name} is not used here`);
  if (ADDRESS_ATTRIBUTES.has(name) && !SAFE_ADDRESS.test(value)) throw new Error('unknown address');
  return value;
}

/** Flattens children; `null`, `undefined` and `false` are nothing. */
function nodesOf(children) {
  return children
    .flat(Number.POSITIVE_INFINITY)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? unplaced(child) : document.createTextNode(String(child))));
}

/** An element that is on the page would be taken off it without a word: every render makes its own. */
function unplaced(node) {
  if (node.isConnected)
    throw new Error(`this ${node.nodeName} is on the page already; use kept() for what stays`);
  return node;
}

/** A link within the page or to the API. */
export function link(href, ...text) {
  return h('a', { href }, ...text);
}

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

/** The same for SVG. */
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
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/** A link within the page or to the API. */
export function link(href, ...text) {
  return h('a', { href }, ...text);
}

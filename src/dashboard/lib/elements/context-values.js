import { to } from '../screen/route.js';
import { h, link } from './dom.js';

/** @import { LedgerLine } from '../api/api-answers.js' */

/**
 * The submitter's own ids, each with a link to the deliveries that have it. Untrusted text.
 * @param {readonly LedgerLine[]} lines
 */
export function contextValues(lines) {
  const entries = lines.flatMap(({ context }) => Object.entries(context ?? {}));
  const texts = entries.filter(([, value]) => typeof value === 'string');
  const values = new Map(texts.map(([name, value]) => [`${name}=${value}`, { name, value }]));
  return [...values].map(([filter, { name, value }]) =>
    h(
      'span',
      { class: 'context', title: filter, 'data-key': filter },
      `${name} `,
      link(to('deliveries', { context: filter }), value),
    ),
  );
}

/** @param {readonly LedgerLine[]} lines */
export function hasContext(lines) {
  return lines.some(({ context }) => context !== undefined);
}

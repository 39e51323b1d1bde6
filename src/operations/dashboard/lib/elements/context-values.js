import { omittedInWords, omittedOf } from '../../vendor/submitted-words.js';
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

/**
 * Names of the context whose value was left out, so that no search and no erasure by it finds the job; null where none is.
 * @param {readonly LedgerLine[]} lines
 */
export function omittedContext(lines) {
  const omitted = omittedOf(lines);
  if (omitted === null) return null;
  return h(
    'p',
    { class: 'quiet', 'data-key': 'omitted' },
    `Left out of the context: ${omittedInWords(omitted)}.`,
  );
}

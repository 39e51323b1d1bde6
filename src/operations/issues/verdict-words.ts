// Loaded by the dashboard as well: whatever this module imports must run in a browser.

import { beginWithinDay, type IndexExtent, notIndexedInWords } from '../../index/index-extent.js';
import { plural } from '../../lib/text/plural.js';
import type { Issue, Level } from './issues.js';
import type { ShowTime } from './phrases.js';

/** Members of the health summary that are unknown when the store cannot be read. */
export const UNKNOWABLE = [
  'callbacks',
  'failing',
  'last24h',
  'regions',
  'credentials',
  'quarantine',
  'reconcile',
  'verify',
  'subscribers',
] as const;
export type Unknowable = (typeof UNKNOWABLE)[number];

/** Parts that a verdict may not cover. */
const UNSEEN = {
  callbacks: 'the callbacks of the last hour',
  deliveries: 'some deliveries',
  failing: 'the failing jobs',
  quarantine: 'the quarantine',
  reconcile: 'the results of reconcile',
  verify: 'the results of verify',
  credentials: 'when credentials of the receivers expire',
  subscribers: 'the subscribers',
  replicas: 'what other replicas report',
};
export type Unseen = keyof typeof UNSEEN;
export const UNSEEN_NAMES = Object.keys(UNSEEN) as readonly Unseen[];

/** The health verdict, the same for the page, `GET health`, `status` and notices. */
export interface Verdict {
  /** The worst level of the issues; `unknown` without issues if facts could not be read. */
  readonly level: Level;
  readonly index: IndexExtent;
  /** Parts that are not covered. */
  readonly unseen: readonly Unseen[];
  /** The worst first. */
  readonly issues: readonly Issue[];
}

export function headlineOf({ level, unseen }: Verdict): string {
  if (level === 'failing') return 'Act now';
  if (level === 'warning') return 'Needs attention';
  if (level === 'unknown') return 'Not everything is known';
  return unseen.length === 0 ? 'All is well' : 'No issue found';
}

/**
 * Basis of a verdict without issues, in a sentence.
 *
 * @param deliveries of the last 24 hours; null when they could not be counted
 */
export function textWithoutIssues(
  { index, unseen }: Verdict,
  deliveries: number | null,
  time: ShowTime,
): string {
  if (deliveries === null) return 'The deliveries could not be counted.';
  const isAll = unseen.length === 0;
  const begin = beginWithinDay(index);
  const period = begin === null ? 'in the last 24 hours' : `since ${time(begin)}`;
  if (deliveries === 0) return isAll ? `Nothing arrived ${period}.` : `No delivery ${period} was found.`;
  const failing = isAll ? 'no job is failing' : 'no failing job was found in what was read';
  return `${plural(deliveries, 'delivery', 'deliveries')} ${period}, ${failing}.`;
}

/** Sentences about parts that the verdict does not cover; null when it covers everything. */
export function notCovered({ index, unseen }: Verdict, time: ShowTime): string | null {
  const lines = unseen.includes('deliveries') ? notIndexedInWords(index, {}, time) : null;
  const others = unseen.filter((name) => name !== 'deliveries' || lines === null);
  const names = others.map((name) => UNSEEN[name]).join('; ');
  const sentences = [...(lines === null ? [] : [lines]), ...(names === '' ? [] : [`Not covered: ${names}.`])];
  return sentences.length === 0 ? null : sentences.join(' ');
}

/**
 * When a credential was last used; a rotation waits until the old one is not used any more.
 *
 * @param name `<source>/<credential>`
 * @param at null when it was not used within the last 7 days
 */
export function lastUseOf(name: string, at: string | null, time: ShowTime): string {
  return `${name}: ${at === null ? 'not used in the last 7 days' : `last used ${time(at)}`}`;
}

import { causeInWords } from '../domain/failure-causes.js';
import type { SummaryFigures, SummaryRow } from '../domain/summary-figures.js';
import { contextOfGroup, MISSED_CAUSE, type SUMMARY_GROUPS } from '../domain/summary-groups.js';
import { bytes, milliseconds, percent } from '../lib/text/amounts.js';
import { count, plural } from '../lib/text/plural.js';

/** Sentences and table texts for figures of deliveries. */

interface Counted {
  readonly total: SummaryFigures;
  /** Number of operators' actions; null when they are not counted. */
  readonly acts: number | null;
  /** Number of requests that left no line; null when they could not be read. */
  readonly unrecorded: number | null;
}

/** The figures of a time, in sentences. */
export function summaryInWords({ total, acts, unrecorded }: Counted): string[] {
  const { lines, callbacks, refused, duration, missed } = total;
  const share = percent(refused, callbacks);
  const those = unrecorded === refused ? 'all' : count(unrecorded ?? 0);
  const without = unrecorded ? `, ${those} of them before they had a valid credential` : '';
  return [
    `${plural(lines, 'delivery', 'deliveries')}, ${plural(callbacks, 'callback')}.`,
    ...(refused > 0
      ? [
          `${plural(refused, 'callback', 'callbacks')} (${share}) ${refused === 1 ? 'was' : 'were'} not answered 2xx${without}.`,
        ]
      : []),
    ...(callbacks > 0 && refused === 0
      ? [`Every callback${unrecorded === null ? ' with a valid credential' : ''} was answered 2xx.`]
      : []),
    ...(duration === null ? [] : [`95 % were answered within ${milliseconds(duration.p95)}.`]),
    ...(missed ? [missedSentence(missed)] : []),
    ...(unrecorded === null
      ? ['Requests that were refused without a valid credential could not be counted.']
      : []),
    ...(acts ? [`Not among them: ${plural(acts, 'act', 'acts')} of operators.`] : []),
  ];
}

function missedSentence(missed: number): string {
  return `${plural(missed, 'callback was', 'callbacks were')} expected and did not come: recovery had to fetch the results.`;
}

/** The heading of the first column. */
export function groupTitle(by: string): string {
  const context = contextOfGroup(by);
  if (context !== null) return context;
  return TITLES[by as keyof typeof TITLES] ?? by;
}

const TITLES: Readonly<Record<(typeof SUMMARY_GROUPS)[number], string>> = {
  hour: 'Hour',
  day: 'Day',
  cause: 'What was wrong',
  source: 'Source',
  outcome: 'Outcome',
  region: 'Region',
  status: 'Callback status',
};

/**
 * The group of a row.
 *
 * @param time shows an instant (ISO 8601)
 */
export function rowInWords(
  by: string,
  { value, note }: Pick<SummaryRow, 'value' | 'note'>,
  time: (instant: string) => string = String,
): string {
  const context = contextOfGroup(by);
  if (context !== null) return value ?? (note === null ? `no ${context}` : GROUP_NOTES[note]);
  if (by === 'hour') return time(value ?? '');
  if (by === 'day') return (value ?? '').slice(0, 10);
  if (by === 'cause') return value === null ? 'nothing was wrong' : causeWords(value);
  return value ?? `no ${by}`;
}

/** Text of a group without a value, by its note. */
export const GROUP_NOTES = {
  omitted: 'left out: malformed or repeated',
} as const;

function causeWords(code: string): string {
  return code === MISSED_CAUSE
    ? 'the callback did not come; recovery had to fetch the results'
    : causeInWords(code);
}

/** The columns of figures that tables show after the group; the text is null for a zero that is not shown. */
export const FIGURE_COLUMNS: readonly {
  readonly title: string;
  readonly text: (
    figures: Pick<SummaryFigures, 'lines' | 'refused' | 'missed' | 'bytes' | 'duration'>,
  ) => string | null;
}[] = [
  { title: 'Deliveries', text: ({ lines }) => count(lines) },
  { title: 'Not 2xx', text: ({ refused }) => (refused === 0 ? null : count(refused)) },
  { title: 'Missed', text: ({ missed }) => (missed === 0 ? null : count(missed)) },
  { title: 'Bytes', text: ({ bytes: size }) => bytes(size) },
  { title: '95 % within', text: ({ duration }) => (duration === null ? null : milliseconds(duration.p95)) },
];

/** "and 312 more", before the figures of the groups beyond the limit. */
export function restInWords(rest: { readonly groups: number }): string {
  return `and ${count(rest.groups)} more`;
}

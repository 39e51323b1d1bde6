import type { SourceScope } from '../../../domain/rights.js';
import type { TimeRange } from '../time-ranges.js';

/** What the open failures of a range do not cover. */
export interface UnseenFailures {
  /** The beginning of the range, in milliseconds since the epoch. */
  readonly since: number;
  /** Ranges that were not looked at, oldest first. */
  readonly gaps: readonly TimeRange[];
  /** What is damaged. */
  readonly faults: readonly string[];
  /** Failing lines that there was no room for. */
  readonly omitted: number;
  /** Why the store could not be read; null where it could. */
  readonly error: string | null;
}

const MAX_NAMED = 3;

/** In words, the last gaps and the first faults of many; empty when the whole range is covered. */
export function describeUnseen(
  { since, gaps, faults, omitted, error }: UnseenFailures,
  scope: SourceScope,
): string[] {
  return [
    ...gapsInWords(gaps, since),
    ...[...new Set(faults)].slice(0, MAX_NAMED),
    ...(omitted > 0 ? [noRoom(omitted, scope)] : []),
    ...(error === null ? [] : [`what the store did not answer (${error})`]),
  ];
}

function gapsInWords(gaps: readonly TimeRange[], since: number): string[] {
  const named = gaps
    .slice(-MAX_NAMED)
    .map((gap) =>
      gap.since <= since
        ? `deliveries before ${iso(gap.until)}`
        : `deliveries from ${iso(gap.since)} to ${iso(gap.until)}`,
    );
  const more = gaps.length - named.length;
  return more === 0 ? named : [...named, `${more} more gaps`];
}

/** Whose failures they are is not known: their number counts those of other sources. */
function noRoom(omitted: number, scope: SourceScope): string {
  const number = scope === null ? `${omitted} ` : '';
  return `${number}failing deliveries that ledger.viewMemory has no room for`;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

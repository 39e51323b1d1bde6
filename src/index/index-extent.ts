// Loaded by the dashboard as well: whatever this module imports must run in a browser.

/**
 * A segment, or several of a writer with consecutive numbers, that the index lacks lines of; an object of a merged hour that is missing or
 * damaged; or a folder of an hour that cannot be listed.
 */
export interface MissingSegments {
  /** Key of the first segment, or of the object; a folder, which ends in `/`. */
  readonly key: string;
  /** How many; 0 for an object that nothing is lacking of: its segments are there, or named themselves. */
  readonly segments: number;
  /** Lines that cannot be read of a segment that is there; null where it is missing. */
  readonly unreadable: number | null;
}

/** What the index has, as every answer says it: all lines written from `since` to `until`, but for those of the missing segments. */
export interface IndexExtent {
  /** ISO 8601; null: from the beginning of the ledger on. */
  readonly since: string | null;
  /** ISO 8601; null while nothing was read yet. */
  readonly until: string | null;
  /** Segments that cannot be read: the first hundred, newest first. */
  readonly missing: readonly MissingSegments[];
}

/** The same with times in milliseconds since the epoch. */
interface ExtentInTime {
  readonly since: number | null;
  readonly until: number | null;
  readonly missing: readonly MissingSegments[];
}

export function extentOf({ since, until, missing }: ExtentInTime): IndexExtent {
  return {
    since: since === null ? null : new Date(since).toISOString(),
    until: until === null ? null : new Date(until).toISOString(),
    missing,
  };
}

/** What the index has but for lines that were just found to be missing or damaged; `lines` is null for a missing segment. */
export function without(
  index: IndexExtent,
  unread: readonly { readonly key: string; readonly lines: number | null }[],
): IndexExtent {
  const known = new Set(index.missing.map(({ key }) => key));
  const added = unread.filter(({ key }) => !known.has(key));
  const missing = added.map(({ key, lines }) => ({ key, segments: 1, unreadable: lines }));
  return { ...index, missing: [...missing, ...index.missing] };
}

/** From when on the index has every line, in milliseconds since the epoch. */
export function beginOf({ since, until }: Pick<IndexExtent, 'since' | 'until'>): number {
  if (until === null) return Number.POSITIVE_INFINITY;
  return since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
}

/** Whether the index has every line written from then on, in milliseconds since the epoch. */
export function hasAllSince(index: IndexExtent, since: number): boolean {
  return beginOf(index) <= since && !index.missing.some(isLacking);
}

const DAY = 24 * 3_600_000;
/** Milliseconds for which an event is tried: where the index has these, what waits for a sender that runs is in it. */
const TRIED_FOR = DAY;

/** Whether the index has the lines whose events may wait to be sent. */
export function hasAllUnsent(index: IndexExtent, now: number): boolean {
  return hasAllSince(index, now - TRIED_FOR);
}

/** From when on the index has lines, where it lacks the beginning of the last day (ISO 8601); null where it reaches further back. */
export function beginWithinDay({ since, until }: Pick<IndexExtent, 'since' | 'until'>): string | null {
  if (since === null || until === null) return null;
  return Date.parse(since) > Date.parse(until) - DAY ? since : null;
}

/** Whether lines of it are not in the index. */
export function isLacking({ segments }: MissingSegments): boolean {
  return segments > 0;
}

/** The time that a question asks about, in milliseconds since the epoch. */
export interface AskedTime {
  /** Default: the beginning of the ledger. */
  readonly since?: number | undefined;
  /** Default: as far as the index reaches. */
  readonly until?: number | undefined;
}

/** What a page of a list asks about, newest first: where more follow, nothing that is older than its last row (ISO 8601). */
export function askedByPage(nextCursor: string | null, oldest: string | undefined): AskedTime {
  return nextCursor === null || oldest === undefined ? {} : { since: Date.parse(oldest) };
}

/** Milliseconds by which the index is usually behind: new writers are looked for once a minute. */
export const USUAL_DELAY = 120_000;
/** Segments that a sentence names. */
const NAMED = 3;

/**
 * What the index lacks of the lines that a question asks for, in a sentence for page and commands alike; null where it has all of them.
 *
 * @param time shows an instant (ISO 8601)
 */
export function notIndexedInWords(
  index: IndexExtent,
  asked: AskedTime,
  time: (instant: string) => string = String,
): string | null {
  const { since, until } = index;
  const missing = index.missing.filter(isLacking);
  if (until === null) return 'The index of the ledger is not built yet: lines may be missing.';
  const { since: from = Number.NEGATIVE_INFINITY, until: to = Number.NEGATIVE_INFINITY } = asked;
  const lacks = [
    ...(since !== null && beginOf(index) > from ? [`lines written before ${time(since)}`] : []),
    ...(to - Date.parse(until) > USUAL_DELAY ? [`lines written after ${time(until)}`] : []),
    ...missing.slice(0, NAMED).map(missingInWords),
    ...(missing.length > NAMED ? ['other segments that cannot be read'] : []),
  ];
  return lacks.length === 0 ? null : `Not in the index of the ledger: ${lacks.join('; ')}.`;
}

function missingInWords({ key, segments, unreadable }: MissingSegments): string {
  if (key.endsWith('/')) return `lines of ${key}, which cannot be listed`;
  if (key.includes('-hours/dt=')) return `lines of ${key}, which is missing, damaged or cannot be read`;
  if (unreadable !== null) return `lines of ${key} that cannot be read (${unreadable})`;
  const more = segments === 1 ? ', which is' : ` and ${segments - 1} more, which are`;
  return `${key}${more} missing or cannot be read`;
}

// Loaded by the dashboard as well: whatever this module imports must run in a browser.

/**
 * Segments with consecutive numbers of a writer whose lines the index lacks; or an object of a merged hour that is missing or damaged; or a
 * folder of an hour that cannot be listed.
 */
export interface MissingSegments {
  /** Key of the first segment, or of the object; a folder, which ends in `/`. */
  readonly key: string;
  /** Number of segments; 0 for an object whose segments exist or are listed themselves. */
  readonly segments: number;
  /** Number of unreadable lines of an existing segment; null when the segment is missing. */
  readonly unreadable: number | null;
}

/** The extent of the index, part of every answer: all lines written from `since` to `until`, except those of missing segments. */
export interface IndexExtent {
  /** ISO 8601; null: the beginning of the ledger. */
  readonly since: string | null;
  /** ISO 8601; null before the first read. */
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

/** Adds segments whose lines were just found to be missing or damaged; `lines` is null for a missing segment. */
export function withUnread(
  index: IndexExtent,
  unread: readonly { readonly key: string; readonly lines: number | null }[],
): IndexExtent {
  const known = new Set(index.missing.map(({ key }) => key));
  const added = unread.filter(({ key }) => !known.has(key));
  const missing = added.map(({ key, lines }) => ({ key, segments: 1, unreadable: lines }));
  return { ...index, missing: [...missing, ...index.missing] };
}

/** Time from which on the index has every line, in milliseconds since the epoch. */
export function extentStart({ since, until }: Pick<IndexExtent, 'since' | 'until'>): number {
  if (until === null) return Number.POSITIVE_INFINITY;
  return since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
}

/** Whether the index has every line written since then. @param since milliseconds since the epoch */
export function hasAllSince(index: IndexExtent, since: number): boolean {
  return extentStart(index) <= since && !index.missing.some(isLacking);
}

const DAY = 24 * 3_600_000;
/** Milliseconds for which an event is retried. */
const RETRIED_FOR = DAY;

/** Whether the index has every line whose event may still be unsent. */
export function hasAllUnsent(index: IndexExtent, now: number): boolean {
  return hasAllSince(index, now - RETRIED_FOR);
}

/** Start of the index (ISO 8601) when it does not cover the whole last day; null when it reaches further back. */
export function beginWithinDay({ since, until }: Pick<IndexExtent, 'since' | 'until'>): string | null {
  if (since === null || until === null) return null;
  return Date.parse(since) > Date.parse(until) - DAY ? since : null;
}

/** Whether the index lacks lines of it. */
export function isLacking({ segments }: MissingSegments): boolean {
  return segments > 0;
}

/** The time range of a question, in milliseconds since the epoch. */
export interface TimeWindow {
  /** Default: the beginning of the ledger. */
  readonly since?: number | undefined;
  /** Default: as far as the index reaches. */
  readonly until?: number | undefined;
}

/** The time range of a page of a list, newest first: when more pages follow, it ends with its oldest row (ISO 8601). */
export function windowOfPage(nextCursor: string | null, oldest: string | undefined): TimeWindow {
  return nextCursor === null || oldest === undefined ? {} : { since: Date.parse(oldest) };
}

/** Usual delay of the index in milliseconds: new writers are found once a minute. */
export const USUAL_DELAY = 120_000;
/** Missing segments that a sentence names. */
const MAX_NAMED = 3;

/**
 * A sentence that says which lines of a time range the index lacks, for page and commands; null when it has all of them.
 *
 * @param time shows an instant (ISO 8601)
 */
export function notIndexedInWords(
  index: IndexExtent,
  range: TimeWindow,
  time: (instant: string) => string = String,
): string | null {
  const { since, until } = index;
  const missing = index.missing.filter(isLacking);
  if (until === null) return 'The index of the ledger is not built yet: lines may be missing.';
  const { since: from = Number.NEGATIVE_INFINITY, until: to = Number.NEGATIVE_INFINITY } = range;
  const lacks = [
    ...(since !== null && extentStart(index) > from ? [`lines written before ${time(since)}`] : []),
    ...(to - Date.parse(until) > USUAL_DELAY ? [`lines written after ${time(until)}`] : []),
    ...missing.slice(0, MAX_NAMED).map(missingInWords),
    ...(missing.length > MAX_NAMED ? ['other segments that cannot be read'] : []),
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

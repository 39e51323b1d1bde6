import { Problem } from '../../domain/problem.js';

const DATE = /^(?:\d{4}|[+-]\d{6})-\d{2}-\d{2}/;
const TIME = /^T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * An ISO 8601 instant with its zone (`2026-01-31T00:00:00Z`, `…+01:00`), or a date, which means midnight UTC, as
 * milliseconds since 1970. Null for all else: days no calendar has, and times without a zone, which would mean
 * whatever this machine is set to.
 */
export function readInstant(text: string): number | null {
  const [date] = DATE.exec(text) ?? [];
  if (date === undefined) return null;
  const time = text.slice(date.length);
  if (time !== '' && !TIME.test(time)) return null;
  // Date itself turns the 31st of February into the 3rd of March.
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) return null;
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? null : instant;
}

/** Milliseconds since the epoch; undefined stays undefined. Throws `Problem` `request-invalid` for an invalid instant. */
export function instantOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = readInstant(text);
  if (time !== null) return time;
  throw new Problem('request-invalid', `${name} must be an ISO 8601 instant with its zone, or a date.`);
}

/** Undefined leaves that end open. */
interface InstantRange {
  readonly since: number | undefined;
  readonly until: number | undefined;
}

/**
 * From `since` until before `until`, in milliseconds since the epoch. Throws `Problem` `request-invalid` for an invalid instant, and
 * where nothing is in between: an empty list would read as if nothing had happened.
 */
export function instantsOf(range: { since?: string | undefined; until?: string | undefined }): InstantRange {
  const since = instantOf('since', range.since);
  const until = instantOf('until', range.until);
  if (since === undefined || until === undefined || since < until) return { since, until };
  throw new Problem('request-invalid', 'since must be before until.');
}

/** ISO 8601 in UTC, of milliseconds since 1970. */
export function writeInstant(time: number): string {
  return new Date(time).toISOString();
}

import { HOUR } from '../../ledger/hours.js';
import { STRETCH } from '../schema.js';

/** A period and its parts, in milliseconds since the epoch; `until` is exclusive. */
export interface Period {
  readonly since: number;
  readonly until: number;
  /** Number of parts; there may be fewer, and in periods of more than two days one more. */
  readonly buckets: number;
}

/** A period that begins, like its parts, at multiples of `resolution`. */
export interface AlignedPeriod {
  readonly since: number;
  readonly until: number;
  /** The last one may be shorter, or some minutes longer. */
  readonly parts: Parts;
  readonly resolution: number;
}

const MINUTE = 60_000;
const DAY = 24 * HOUR;
/** Hours of parts that divide a day; longer parts are whole days. */
const PARTS = [1, 2, 3, 4, 6, 8, 12].map((each) => each * HOUR);
/** Up to this length parts are whole minutes, which are added up line by line. */
const BY_MINUTE = 2 * HOUR;
/** Above this length no part is shorter than an hour. */
const BY_HOUR_ABOVE = 2 * DAY;

/** Widens a period to whole minutes, to the stretches that the index adds up by, and to hours in longer ones. */
export function alignPeriod({ since, until, buckets }: Period, now: number): AlignedPeriod {
  const length = until - since;
  const step = length <= BY_MINUTE ? MINUTE : STRETCH;
  // A period until now that began when the client asked is longer by the time since: the last part takes that.
  const slack = until > now ? step : 0;
  const isShort = length <= BY_HOUR_ABOVE;
  const wanted = (length - slack) / buckets;
  const hours = PARTS.find((each) => each >= wanted) ?? ceilTo(DAY, wanted);
  const resolution = isShort ? step : Math.min(hours, DAY);
  const begin = Math.floor(since / resolution) * resolution;
  const end = until > now ? until : Math.min(ceilTo(resolution, until), now + 1);
  const width = isShort ? Math.max(step, ceilTo(step, (end - begin - slack) / buckets)) : hours;
  const count = Math.max(1, Math.ceil((end - begin - slack) / width));
  return { since: begin, until: end, parts: { begin, width, count }, resolution };
}

function ceilTo(step: number, time: number): number {
  return Math.ceil(time / step) * step;
}

/** Parts of equal length that a time is divided into; the last one takes what is left. */
export interface Parts {
  readonly begin: number;
  /** Milliseconds. */
  readonly width: number;
  readonly count: number;
}

/** One part, however long the time is. */
export const WHOLE: Parts = { begin: 0, width: 2 ** 52, count: 1 };

/** The number of the part that a time is in. */
export function partAt({ begin, width, count }: Parts, time: number): number {
  return Math.max(0, Math.min(Math.floor((time - begin) / width), count - 1));
}

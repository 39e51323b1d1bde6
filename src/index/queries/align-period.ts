import { HOUR } from '../../ledger/hours.js';
import { STRETCH } from '../schema.js';

/** A period to be divided into parts, in milliseconds since the epoch; `until` is exclusive. */
export interface Period {
  readonly since: number;
  readonly until: number;
  /** Wanted number of parts; there may be fewer, and in periods of more than two days one more. */
  readonly buckets: number;
}

/** A period that begins at a multiple of `resolution`, like its parts. */
export interface AlignedPeriod {
  readonly since: number;
  readonly until: number;
  /** The last one may be shorter, or some minutes longer. */
  readonly parts: Parts;
  readonly resolution: number;
}

const MINUTE = 60_000;
const DAY = 24 * HOUR;
/** Lengths of parts that divide a day; longer parts are whole days. */
const PARTS = [1, 2, 3, 4, 6, 8, 12].map((each) => each * HOUR);
/** Up to this length parts are whole minutes, which are summed line by line. */
const BY_MINUTE = 2 * HOUR;
/** Above this length no part is shorter than an hour. */
const BY_HOUR_ABOVE = 2 * DAY;

/** Widens a short period to whole minutes, a longer one to the stretches of the index's sums, and an even longer one to hours. */
export function alignPeriod({ since, until, buckets }: Period, now: number): AlignedPeriod {
  const length = until - since;
  const step = length <= BY_MINUTE ? MINUTE : STRETCH;
  // A period that ends after now was chosen by the client's earlier clock: the last part takes the difference.
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

/** Parts of equal length; the last one takes the rest. */
export interface Parts {
  readonly begin: number;
  /** Milliseconds. */
  readonly width: number;
  readonly count: number;
}

/** A single part of any length. */
export const WHOLE: Parts = { begin: 0, width: 2 ** 52, count: 1 };

/** The number of the part that a time is in. */
export function partAt({ begin, width, count }: Parts, time: number): number {
  return Math.max(0, Math.min(Math.floor((time - begin) / width), count - 1));
}

import { HOUR } from '../../ledger/hours.js';
import { MINUTE } from '../figure-widths.js';

/** A period and its parts, in milliseconds since the epoch; `until` is exclusive. */
export interface Period {
  readonly since: number;
  readonly until: number;
  /** Number of parts; there may be fewer, and one more where the period does not begin with one. */
  readonly buckets: number;
}

/** A period that begins, like its parts, at multiples of `resolution`. */
export interface AlignedPeriod {
  readonly since: number;
  readonly until: number;
  /** Milliseconds of a part. The last one may be shorter, or a minute longer. */
  readonly width: number;
  readonly parts: number;
  readonly resolution: number;
}

const DAY = 24 * HOUR;
/** Minutes of parts that divide a day; longer parts are whole days. */
const PARTS = [1, 2, 3, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720].map((each) => each * MINUTE);
/** Above this length no part is shorter than an hour: hours are sixty times fewer than minutes. */
const BY_HOUR_ABOVE = 2 * DAY;

/** Widens a period to multiples of what the index adds up by. A period that is not divided is exact to the minute. */
export function alignPeriod({ since, until, buckets }: Period, now: number): AlignedPeriod {
  // A period until now that began when the client asked is longer by the time since: the last part takes that.
  const slack = until > now ? MINUTE : 0;
  const shortest = until - since > BY_HOUR_ABOVE && buckets > 1 ? HOUR : MINUTE;
  const wanted = Math.max(shortest, (until - since - slack) / buckets);
  const part = PARTS.find((each) => each >= wanted) ?? ceilTo(DAY, wanted);
  const resolution = buckets === 1 || part < HOUR ? MINUTE : Math.min(part, DAY);
  const begin = Math.floor(since / resolution) * resolution;
  const end = until > now ? until : Math.min(ceilTo(resolution, until), now + 1);
  const width = buckets === 1 ? end - begin : part;
  const parts = Math.max(1, Math.ceil((end - begin - slack) / width));
  return { since: begin, until: end, width, parts, resolution };
}

function ceilTo(step: number, time: number): number {
  return Math.ceil(time / step) * step;
}

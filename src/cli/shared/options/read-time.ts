import { parseDuration } from '../../../config/units.js';
import { readInstant } from '../../../lib/time/instant.js';
import { UsageError } from '../exit-codes.js';

/** Reader of an option that takes a time, or a duration before now. */
export function readTime(option: string): (text: string) => Date {
  return (text) => {
    const time = new Date(durationAgo(text) ?? readInstant(text) ?? Number.NaN);
    if (!Number.isNaN(time.getTime())) return time;
    throw new UsageError(
      `${option} expects a duration such as 48h, or a time with its zone such as 2026-01-31T00:00:00Z`,
    );
  };
}

/** Undefined for other text, and for a number without a unit: 2026 does not mean milliseconds. */
function durationAgo(text: string): number | undefined {
  const back = /[a-z]/i.test(text) ? parseDuration(text) : undefined;
  return back === undefined ? undefined : Date.now() - back;
}

import { HOUR } from '../hours.js';

export const DAY = 24 * HOUR;

/** In milliseconds since the epoch; `until` is exclusive. */
export interface TimeRange {
  readonly since: number;
  readonly until: number;
}

/** The parts of ranges that are in another one, in order; those that touch become one. */
export function mergeRanges(ranges: Iterable<TimeRange>, within: TimeRange): TimeRange[] {
  const merged: { since: number; until: number }[] = [];
  const parts = [...ranges].map(({ since, until }) => ({
    since: Math.max(since, within.since),
    until: Math.min(until, within.until),
  }));
  for (const part of parts.filter(({ since, until }) => since < until).sort((a, b) => a.since - b.since)) {
    const last = merged.at(-1);
    if (last !== undefined && part.since <= last.until) last.until = Math.max(last.until, part.until);
    else merged.push({ ...part });
  }
  return merged;
}

export function floorTo(step: number, time: number): number {
  return Math.floor(time / step) * step;
}

export function ceilTo(step: number, time: number): number {
  return Math.ceil(time / step) * step;
}

/** Both ends included, in milliseconds since the epoch. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What remains of a range without others, newest first. */
export function subtractRanges(range: TimeRange, others: readonly TimeRange[]): TimeRange[] {
  const rest: TimeRange[] = [];
  let to = range.to;
  const cuts = others.filter((other) => other.to >= range.from && other.from <= range.to);
  for (const other of cuts.sort((a, b) => b.to - a.to)) {
    if (other.from > to) continue;
    if (other.to < to) rest.push({ from: other.to + 1, to });
    to = other.from - 1;
  }
  if (to >= range.from) rest.push({ from: range.from, to });
  return rest;
}

export function contains(range: TimeRange, time: number): boolean {
  return range.from <= time && time <= range.to;
}

/** Cuts a range at full hours, newest first. */
export function splitByHour({ from, to }: TimeRange): TimeRange[] {
  const parts: TimeRange[] = [];
  for (let end = to; end >= from; ) {
    const begin = Math.max(from, Math.floor(end / HOUR) * HOUR);
    parts.push({ from: begin, to: end });
    end = begin - 1;
  }
  return parts;
}

/** Whether two times lie in the same hour (UTC). */
export function sameHour(one: number, other: number): boolean {
  return Math.floor(one / HOUR) === Math.floor(other / HOUR);
}

/** `YYYY-MM-DD`, UTC. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The days that a range touches. */
export function daysOf({ from, to }: TimeRange): string[] {
  const days: string[] = [];
  for (let day = Math.floor(from / DAY) * DAY; day <= to; day += DAY) days.push(dayOf(day));
  return days;
}

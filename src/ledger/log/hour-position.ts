import type { Gap, Numbered } from './covered-numbers.js';

/** What was read of an hour: the segments of each writer up to a number, except for the missing ones. */
export interface HourPosition {
  /** Folder of the hour, `dt=…/hour=HH/`. */
  readonly hour: string;
  /**
   * The last number of each writer that was read or marked as missing. No lower number appears later, unless it is missing. This and
   * `missing` are replaced, never changed: snapshots share them.
   */
  read: ReadonlyMap<string, number>;
  /** Missing numbers up to those, in the order in which they were noticed. */
  missing: readonly Gap[];
}

/** @param read default: nothing was read */
export function hourPosition(
  hour: string,
  read: Readonly<Record<string, number>> = {},
  missing: readonly Gap[] = [],
): HourPosition {
  return { hour, read: new Map(Object.entries(read)), missing };
}

export function isRead({ read, missing }: HourPosition, segment: Numbered): boolean {
  return segment.number <= (read.get(segment.writer) ?? 0) && !missing.some((gap) => isWithin(gap, segment));
}

export function isWithin({ writer, from, to }: Gap, segment: Numbered): boolean {
  return segment.writer === writer && from <= segment.number && segment.number <= to;
}

/** Marks a segment as read. Unread numbers before it become missing. */
export function markRead(position: HourPosition, { writer, number }: Numbered): void {
  markMissing(position, { writer, to: number - 1 });
  if (number > (position.read.get(writer) ?? 0)) position.read = new Map(position.read).set(writer, number);
  else position.missing = position.missing.flatMap((gap) => without(gap, { writer, number }));
}

/** Marks all unread numbers up to `to` as missing. */
export function markMissing(position: HourPosition, { writer, to }: Pick<Gap, 'writer' | 'to'>): void {
  const from = (position.read.get(writer) ?? 0) + 1;
  if (to < from) return;
  const before = position.missing.findLast((gap) => gap.writer === writer && gap.to === from - 1);
  const gap = { writer, from: before?.from ?? from, to };
  position.missing = [...position.missing.filter((each) => each !== before), gap];
  position.read = new Map(position.read).set(writer, to);
}

function without(gap: Gap, segment: Numbered): Gap[] {
  if (!isWithin(gap, segment)) return [gap];
  const parts = [
    { ...gap, to: segment.number - 1 },
    { ...gap, from: segment.number + 1 },
  ];
  return parts.filter(({ from, to }) => from <= to);
}

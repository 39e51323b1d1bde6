import type { ObjectStore } from '../../../store/object-store.js';
import { startOfHour } from '../../hours.js';
import { LEDGER_FOLDER } from '../../ledger-keys.js';
import { type ListedSegment, writtenAt } from '../../list-segments.js';
import type { CoveredNumbers } from '../../rollup/rollup.js';
import { LAST_NUMBER, parseSegmentKey, segmentKey } from '../../segment-key.js';
import type { LogOrder } from './log-position.js';

interface HourPlace {
  readonly store: ObjectStore;
  /** Folder of the hour, `dt=…/hour=HH/`. */
  readonly hour: string;
  readonly signal?: AbortSignal | undefined;
}

export interface SegmentSearch extends HourPlace {
  readonly order: LogOrder;
  /** Only segments written from `since` until before `until`, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
  /** Only these numbers; null: all of the hour. */
  readonly only: CoveredNumbers | null;
  /** Called with numbers that are missing although a later one exists. */
  readonly onGap: (writer: string, from: number, to: number) => void;
}

/** The segments that one writer has in an hour. */
interface WriterSegments {
  readonly writer: string;
  /** All of them; null where they are more than a page, or no more are held. */
  readonly all: readonly ListedSegment[] | null;
}

/** A page of a listing. */
const PAGE = 1000;
/** Listed segments of an hour that are held while it is read: some 3 MB. */
const MAX_HELD = 10_000;

/**
 * The segments of an hour in the order in which they were written. Numbers of a writer have no gaps, so that the segments of an instant
 * are found by bisection: a busy hour is not listed as a whole to read a part of it.
 */
export async function* segmentsInOrder(search: SegmentSearch): AsyncGenerator<ListedSegment> {
  const { order, only } = search;
  const writers = (await listWriters(search)).filter(
    ({ writer }) => only === null || Object.hasOwn(only, writer),
  );
  const sign = order === 'oldest' ? 1 : -1;
  const streams = writers.map((writer) =>
    sign > 0 ? ascending(search, writer) : descending(search, writer),
  );
  const heads = await Promise.all(
    streams.map(async (stream) => ({
      stream,
      head: (await stream.next()).value as ListedSegment | undefined,
    })),
  );
  for (;;) {
    let first: (typeof heads)[number] | null = null;
    for (const each of heads) {
      if (each.head === undefined) continue;
      if (!first?.head || sign * (each.head.writtenAt - first.head.writtenAt) < 0) first = each;
    }
    if (!first?.head) return;
    yield first.head;
    first.head = (await first.stream.next()).value as ListedSegment | undefined;
  }
}

/** The last number of each writer of an hour. */
export async function lastNumbers(store: ObjectStore, hour: string): Promise<Map<string, number>> {
  const writers = await listWriters({ store, hour });
  const numbers = writers.map(async (segments): Promise<[string, number]> => {
    const place = { store, hour };
    return [segments.writer, (await firstSince(place, segments, Number.POSITIVE_INFINITY)) - 1];
  });
  return new Map(await Promise.all(numbers));
}

async function listWriters(place: HourPlace): Promise<WriterSegments[]> {
  const writers: WriterSegments[] = [];
  let held = 0;
  for (let startAfter = ''; ; ) {
    const page: ListedSegment[] = [];
    for await (const segment of listFrom(place, startAfter, PAGE)) if (page.push(segment) === PAGE) break;
    const last = page.length === PAGE ? page.at(-1)?.writer : undefined;
    for (const [writer, all] of groupByWriter(page)) {
      const isHeld = writer !== last && held + all.length <= MAX_HELD;
      writers.push({ writer, all: isHeld ? all : null });
      if (isHeld) held += all.length;
    }
    if (last === undefined) return writers;
    startAfter = segmentKey({ hour: place.hour, writer: last, number: LAST_NUMBER });
  }
}

function groupByWriter(segments: readonly ListedSegment[]): Map<string, ListedSegment[]> {
  const groups = new Map<string, ListedSegment[]>();
  for (const segment of segments) {
    const group = groups.get(segment.writer);
    if (group === undefined) groups.set(segment.writer, [segment]);
    else group.push(segment);
  }
  return groups;
}

/** The segments behind a key, from listings of so many objects. */
async function* listFrom(
  { store, hour, signal }: HourPlace,
  startAfter: string,
  limit: number,
): AsyncGenerator<ListedSegment> {
  for (let last = startAfter; ; ) {
    let count = 0;
    for await (const listed of store.list(LEDGER_FOLDER + hour, { startAfter: last, limit, signal })) {
      count += 1;
      last = listed.key;
      const place = parseSegmentKey(last);
      if (place !== null) yield { ...place, key: last, size: listed.size, writtenAt: writtenAt(listed) };
    }
    if (count < limit) return;
  }
}

/** Segments of a writer from a number on, at most a page. */
async function pageFrom(
  place: HourPlace,
  { writer, all }: WriterSegments,
  number: number,
  limit = PAGE,
): Promise<readonly ListedSegment[]> {
  if (all !== null) return all.filter((segment) => segment.number >= number);
  const page: ListedSegment[] = [];
  const startAfter = segmentKey({ hour: place.hour, writer, number: number - 1 });
  for await (const segment of listFrom(place, startAfter, limit)) {
    if (segment.writer !== writer || page.push(segment) === limit) break;
  }
  return page;
}

/** The first number whose segment was written at or after an instant, or the one after the last. */
async function firstSince(place: HourPlace, segments: WriterSegments, time: number): Promise<number> {
  const { writer, all } = segments;
  if (time <= startOfHour(place.hour)) return 1;
  if (all !== null) return (all.findLast(({ writtenAt }) => writtenAt < time)?.number ?? 0) + 1;
  for (let low = 0; ; ) {
    const number = await firstNotBefore(place, writer, time, low);
    // Those behind one that is lost or was deleted show in a listing only; the number itself may have been written meanwhile.
    const [next] = await pageFrom(place, segments, number, 1);
    if (next === undefined || next.number === number || next.writtenAt >= time) return number;
    low = next.number;
  }
}

/** Numbers that are looked at at once. */
const PROBES = 8;
const POWERS = Array.from({ length: 14 }, (_, exponent) => 4 ** exponent);

/** The first number behind one whose segment is missing, or was not written before an instant. */
async function firstNotBefore(
  { store, hour }: HourPlace,
  writer: string,
  time: number,
  behind: number,
): Promise<number> {
  const isBefore = async (number: number) => {
    const segment = await store.head(segmentKey({ hour, writer, number }));
    return segment !== null && writtenAt(segment) < time;
  };
  let low = behind;
  let high = LAST_NUMBER + 1;
  let probes = POWERS.map((power) => behind + power).filter((number) => number < high);
  while (high - low > 1) {
    const answers = await Promise.all(probes.map(isBefore));
    const end = answers.indexOf(false);
    high = probes[end] ?? high;
    low = probes[end < 0 ? probes.length - 1 : end - 1] ?? low;
    const step = Math.ceil((high - low) / (PROBES + 1));
    const next = Array.from({ length: PROBES }, (_, index) => low + (index + 1) * step);
    probes = next.filter((number) => number < high);
  }
  return high;
}

function isWanted(
  { only, since, until }: SegmentSearch,
  { writer, number, writtenAt }: ListedSegment,
): boolean {
  const isCovered = only === null || only[writer]?.some(([from, to]) => number >= from && number <= to);
  return isCovered === true && writtenAt >= since && writtenAt < until;
}

async function* ascending(search: SegmentSearch, segments: WriterSegments): AsyncGenerator<ListedSegment> {
  for (let next = await firstSince(search, segments, search.since); ; ) {
    const page = await pageFrom(search, segments, next);
    for (const segment of page) {
      if (segment.number > next) search.onGap(segments.writer, next, segment.number - 1);
      next = segment.number + 1;
      if (segment.writtenAt >= search.until) return;
      if (isWanted(search, segment)) yield segment;
    }
    if (page.length === 0) return;
  }
}

async function* descending(search: SegmentSearch, segments: WriterSegments): AsyncGenerator<ListedSegment> {
  let next = (await firstSince(search, segments, search.until)) - 1;
  while (next >= 1) {
    const low = Math.max(1, next - PAGE + 1);
    const page = (await pageFrom(search, segments, low)).filter(({ number }) => number <= next);
    for (const segment of page.toReversed()) {
      if (segment.number < next) search.onGap(segments.writer, segment.number + 1, next);
      next = segment.number - 1;
      if (segment.writtenAt < search.since) return;
      if (isWanted(search, segment)) yield segment;
    }
    if (next >= low) search.onGap(segments.writer, low, next);
    next = low - 1;
  }
}

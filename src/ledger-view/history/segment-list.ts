import { encodeTime } from 'ulid';
import { listPartition, startOfPartition } from '../../ledger/ledger-reader.js';
import { ownCopy, segmentName, writtenAt } from '../../ledger/segment-name.js';
import type { ObjectStore } from '../../store/object-store.js';

/**
 * Names of one hour's segments, newest first, although a store lists forwards only: it lists short spans of time, the
 * newest first, so that the first page of a busy hour does not wait for a listing of the whole hour.
 */
export interface SegmentList {
  /** The next names; empty when there are no more. Throws `StoreError`; the next call continues. */
  next(count: number): Promise<string[]>;
  /**
   * All lines received at or after this instant are in segments whose names `next` returned: a line is received before
   * its segment is written, by the same clock.
   */
  complete(): number;
  /** Segments written since the last listing that `next` would not return. */
  late(): Promise<string[]>;
}

export interface SegmentListOptions {
  readonly store: ObjectStore;
  /** Folder of the hour. */
  readonly partition: string;
  /** Only segments with names after this one. Default: all. */
  readonly after?: string | undefined;
  /** Whether a segment is known to hold no line that is looked for. Default: none is. */
  readonly skips?: ((name: string) => boolean) | undefined;
  readonly clock: () => number;
}

const HOUR = 3_600_000;
const PAGE = 1000;
/** Names of a span: few at first, so that the newest lines are there soon, then more, because every span costs a call. */
const FIRST_SPAN_NAMES = 500;
const MAX_SPAN_NAMES = 8000;
const FIRST_SPAN = 4000;
/** Segments are named by their writer's clock: late ones are looked for this far behind the last listing. */
const SKEW = 3 * 60_000;
/** After a look for late segments that found many, the next one waits this long. */
const MANY_LATE_PAUSE = 15_000;

export function createSegmentList(options: SegmentListOptions): SegmentList {
  const { store, partition, after = '', skips = () => false, clock } = options;
  const start = startOfPartition(partition);
  const end = start + HOUR;
  /** Names in ascending order; `next` takes them from the end. */
  let waiting: string[] = [];
  /** Segments written at or after this instant are in `waiting` or were returned. */
  let floor = Number.POSITIVE_INFINITY;
  let span = FIRST_SPAN;
  let wanted = FIRST_SPAN_NAMES;
  let listedAt = 0;
  let recent = new Set<string>();
  let pausedUntil = 0;

  const isOfHour = (name: string) => {
    const written = writtenAt(name);
    return written !== null && written >= start && written < end;
  };

  /** Segments that can hold lines of the whole hour come first: foreign ones, and those written after it. */
  function inOrder(names: readonly string[]): string[] {
    return [...names.filter(isOfHour), ...names.filter((name) => !isOfHour(name))];
  }

  /** Names written in [from, to); null as soon as there are more than `most`. */
  async function list(from: number | null, to: number, most = Number.POSITIVE_INFINITY) {
    const names: string[] = [];
    const bound = from === null ? '' : encodeTime(Math.max(0, from));
    const startAfter = `${partition}${bound > after ? bound : after}`;
    const until = Number.isFinite(to) ? encodeTime(to) : '~';
    for await (const key of listPartition(store, partition, { startAfter })) {
      const name = segmentName(key);
      if (name >= until) return { names, more: true };
      if (name === after || skips(name)) continue;
      if (names.length >= most) return null;
      names.push(ownCopy(name));
    }
    return { names, more: false };
  }

  function remember(names: readonly string[]): void {
    const since = encodeTime(Math.max(0, listedAt - SKEW));
    recent = new Set([...recent, ...names].filter((name) => name >= since));
  }

  /** Small hours end here, after one page. Of others this finds the names that sort before all of ours. */
  async function begin(): Promise<void> {
    const now = clock();
    const all = await list(null, Number.POSITIVE_INFINITY, PAGE - 1);
    if (all) {
      waiting = inOrder(all.names);
      floor = Number.NEGATIVE_INFINITY;
    } else {
      const foreign = await list(null, start);
      const written = await list(end, Number.POSITIVE_INFINITY);
      waiting = inOrder([...(foreign?.names ?? []), ...(written?.names ?? [])]);
      floor = end;
    }
    listedAt = now;
    remember(waiting);
  }

  async function nextSpan(): Promise<void> {
    const from = Math.max(start, floor - span);
    const listed = await list(from, floor, wanted * 4);
    if (listed === null && floor - from > 1) {
      span = Math.max(1, Math.floor((floor - from) / 8));
      return;
    }
    const names = listed?.names ?? (await list(from, floor))?.names ?? [];
    remember(names);
    waiting = inOrder(names);
    floor = from <= start ? Number.NEGATIVE_INFINITY : from;
    wanted = Math.min(MAX_SPAN_NAMES, wanted * 2);
    const wish = (span * wanted) / Math.max(1, names.length);
    span = Math.ceil(Math.min(Math.max(wish, span / 8), span * 8));
  }

  return {
    async next(count) {
      if (floor === Number.POSITIVE_INFINITY) await begin();
      while (waiting.length === 0 && floor !== Number.NEGATIVE_INFINITY) await nextSpan();
      return waiting.splice(Math.max(0, waiting.length - count)).reverse();
    },
    complete() {
      const next = waiting.at(-1);
      if (next === undefined) return floor;
      return isOfHour(next) ? (writtenAt(next) ?? 0) + 1 : Number.POSITIVE_INFINITY;
    },
    async late() {
      const now = clock();
      if (floor === Number.POSITIVE_INFINITY || now < pausedUntil) return [];
      const listed = await list(Math.max(listedAt - SKEW, floor), Number.POSITIVE_INFINITY);
      const names = listed?.names ?? [];
      pausedUntil = names.length > PAGE ? now + MANY_LATE_PAUSE : 0;
      const fresh = names.filter((name) => !recent.has(name));
      listedAt = now;
      remember(names);
      return fresh;
    },
  };
}

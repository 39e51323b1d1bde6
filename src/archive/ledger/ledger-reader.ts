import { text } from 'node:stream/consumers';
import type { LedgerLine } from '../../domain/delivery.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { LEDGER_FOLDER, ledgerPartition } from '../layout.js';
import { type ParsedSegment, parseSegment } from './parse-segment.js';
import { readAhead } from './read-ahead.js';

/** Our segments hold 1 MiB or a single line. A much larger object is foreign and is not read into memory. */
const MAX_SEGMENT_BYTES = 64 * 1024 * 1024;

export interface LedgerRange {
  /** ISO 8601; lines received at or after it. Default: from the beginning. */
  readonly since?: string;
  /** ISO 8601; lines received before it. Default: to the end. */
  readonly until?: string;
}

export interface LedgerReadOptions extends LedgerRange {
  /** Called with every line that cannot be read; `line` counts from 1, 0 stands for the whole segment. */
  readonly onBroken?: (broken: { segment: string; line: number }) => void;
  /** Called with every line of a newer version, which is skipped. */
  readonly onNewer?: (newer: { segment: string; line: number }) => void;
  /** Called with the key of every object of the ledger that was read. */
  readonly onSegment?: (key: string) => void;
  /** Segments read at once. Default 8. */
  readonly concurrency?: number;
}

/**
 * Streams the ledger in bounded memory: by the hour of receipt, and within an hour by the time its segments were
 * written. So lines are in order of receipt only up to the duration of their deliveries. The same delivery id can come
 * more than once. Throws `StoreError` when the store does.
 */
export async function* readLedger(
  store: ObjectStore,
  options: LedgerReadOptions = {},
): AsyncGenerator<LedgerLine> {
  const { onBroken, onNewer, onSegment, concurrency = 8 } = options;
  const since = options.since === undefined ? '' : new Date(options.since).toISOString();
  const until = options.until === undefined ? '~' : new Date(options.until).toISOString();
  const segments = readAhead(listSegments(store, options), concurrency, async (key) => ({
    key,
    parsed: await readSegment(store, key),
  }));
  for await (const { key, parsed } of segments) {
    if (parsed !== null) onSegment?.(key);
    for (const line of parsed?.brokenLines ?? []) onBroken?.({ segment: key, line });
    for (const line of parsed?.newerLines ?? []) onNewer?.({ segment: key, line });
    for (const { line } of parsed?.entries ?? []) {
      if (line.receivedAt >= since && line.receivedAt < until) yield line;
    }
  }
}

/** Reads one segment; null when it is missing, e.g. after a life-cycle rule of the bucket deleted it. */
export async function readSegment(store: ObjectStore, key: string): Promise<ParsedSegment | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  if (reading.info.size > MAX_SEGMENT_BYTES) {
    reading.body.destroy();
    return { entries: [], brokenLines: [0], newerLines: [] };
  }
  try {
    return parseSegment(await text(reading.body));
  } catch (cause) {
    throw new StoreError('read', `${key} could not be read to its end`, { cause });
  }
}

/** Keys of a partition's segments, in the order they were written. */
export async function* listPartition(
  store: ObjectStore,
  partition: string,
  options?: { startAfter: string },
): AsyncGenerator<string> {
  for await (const { key } of store.list(partition, options)) {
    if (isSegmentKey(key)) yield key;
  }
}

/** Folders of the hours that overlap the range and hold segments, oldest first. */
export async function* listPartitions(store: ObjectStore, range: LedgerRange = {}): AsyncGenerator<string> {
  const first = range.since === undefined ? '' : ledgerPartition(new Date(range.since).toISOString());
  const last = range.until === undefined ? '~' : ledgerPartition(new Date(range.until).toISOString());
  for await (const day of store.folders(LEDGER_FOLDER)) {
    if (!day.startsWith(`${LEDGER_FOLDER}dt=`)) continue;
    if (day < first.slice(0, day.length) || day > last) continue;
    for await (const hour of store.folders(day)) {
      if (hour >= first && hour <= last) yield hour;
    }
  }
}

async function* listSegments(store: ObjectStore, range: LedgerRange): AsyncGenerator<string> {
  for await (const partition of listPartitions(store, range)) yield* listPartition(store, partition);
}

const PARTITION = /dt=(\d{4}-\d\d-\d\d)\/hour=(\d\d)\/$/;

/** The begin of a partition's hour in milliseconds since the epoch; NaN for a foreign folder. */
export function startOfPartition(partition: string): number {
  const [, day, hour] = PARTITION.exec(partition) ?? [];
  return Date.parse(`${day}T${hour}:00:00.000Z`);
}

export function isSegmentKey(key: string): boolean {
  return key.endsWith('.ndjson');
}

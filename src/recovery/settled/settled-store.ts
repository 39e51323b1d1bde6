import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import { ulid } from 'ulid';
import { SETTLED_FOLDER, settledFolder, settledRegionFolder } from '../../archive/layout.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { RecoveryParts } from '../recovery-parts.js';
import { ID_BYTES, packIds } from './settled-ids.js';
import { dayOf, daysOf, type TimeRange } from './time-ranges.js';

/** A range of the job list in which every job was settled; at most an hour. */
export interface Stretch extends TimeRange {
  /** Jobs in it that belong to a source here. */
  readonly matched: number;
  /** Jobs in it that belong to none. */
  readonly ignored: number;
}

export interface RecordedStretch extends Stretch {
  /** When the run began that recorded it; milliseconds since the epoch. */
  readonly at: number;
}

/** Ids of settled jobs that were created in a range; they may be a part of its jobs. */
export interface IdsFile extends TimeRange {
  readonly key: string;
}

/** What runs recorded of one region. */
export interface SettledRecords {
  readonly stretches: readonly RecordedStretch[];
  readonly idsFiles: readonly IdsFile[];
}

const READS_AT_ONCE = 16;
const DELETES_AT_ONCE = 16;
/** Ten times the largest file that is written. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

const IDS_NAME = /^(\d{1,16})-(\d{1,16})-[0-9A-Z]{26}\.ids$/;
const STRETCHES_NAME = /^[0-9A-Z]{26}\.json$/;

/**
 * Fingerprint of the settings that decide which artefacts are expected of a job. A run with other settings finds nothing
 * settled, and looks at every job again.
 *
 * @param source the run is limited to this source
 */
export function settledScope(
  { sources, publicUrl }: Pick<RecoveryParts, 'sources' | 'publicUrl'>,
  source: string | null,
): string {
  const expected = Object.entries(sources)
    .map(([name, { contents, keyPrefix }]) => [name, contents, keyPrefix])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  return hash('sha256', JSON.stringify([1, publicUrl, source, expected])).slice(0, 16);
}

/**
 * Settled jobs of one region, in objects that are only added and never rewritten, so that any number of runs can write
 * at once. An object that cannot be parsed counts as missing: its jobs are looked at again.
 */
export interface SettledStore {
  /** Throws `StoreError`. */
  read(range: TimeRange): Promise<SettledRecords>;
  /** The packed ids of a file. Throws `StoreError`. */
  readIds(file: IdsFile): Promise<Buffer>;
  /** @param range the creation times of these jobs, within one day */
  writeIds(range: TimeRange, ids: readonly Buffer[]): Promise<void>;
  /** @param at when the run began */
  writeStretches(stretches: readonly Stretch[], at: number): Promise<void>;
  /** Removes what any settings recorded of the days that a range touches. */
  forget(range: TimeRange): Promise<void>;
}

export function openSettledStore(store: ObjectStore, region: string, scope: string): SettledStore {
  const folderOf = (time: number) => settledFolder(dayOf(time), region, scope);
  const limit = pLimit(READS_AT_ONCE);
  return {
    async read(range) {
      const days = await Promise.all(
        daysOf(range).map((day) => keysBelow(store, settledFolder(day, region, scope))),
      );
      const keys = days.flat();
      const stretches = keys
        .filter((key) => STRETCHES_NAME.test(nameOf(key)))
        .map((key) => limit(async () => parseStretches(await contentOf(store, key))));
      return { stretches: (await Promise.all(stretches)).flat(), idsFiles: keys.flatMap(parseIdsName) };
    },
    async readIds({ key }) {
      const ids = await limit(() => contentOf(store, key));
      return ids.length % ID_BYTES === 0 ? ids : Buffer.alloc(0);
    },
    async writeIds({ from, to }, ids) {
      const key = `${folderOf(to)}${from}-${to}-${ulid()}.ids`;
      await store.create(key, packIds(ids), { contentType: 'application/octet-stream', metadata: {} });
    },
    async writeStretches(stretches, at) {
      for (const folder of new Set(stretches.map(({ to }) => folderOf(to)))) {
        const rows = stretches
          .filter(({ to }) => folderOf(to) === folder)
          .map(({ from, to, matched, ignored }) => [from, to, matched, ignored]);
        const body = Buffer.from(JSON.stringify({ v: 1, at, stretches: rows }));
        await store.create(`${folder}${ulid()}.json`, body, {
          contentType: 'application/json',
          metadata: {},
        });
      }
    },
    async forget(range) {
      for (const day of daysOf(range)) await deleteBelow(store, settledRegionFolder(day, region));
    },
  };
}

/** Removes what was recorded of days that ended before a time. */
export async function expireSettled(store: ObjectStore, before: number): Promise<void> {
  const expired: string[] = [];
  for await (const folder of store.folders(SETTLED_FOLDER)) {
    if (folder.slice(SETTLED_FOLDER.length, -1) >= dayOf(before)) break;
    expired.push(folder);
  }
  for (const folder of expired) await deleteBelow(store, folder);
}

async function deleteBelow(store: ObjectStore, folder: string): Promise<void> {
  const limit = pLimit(DELETES_AT_ONCE);
  const keys = await keysBelow(store, folder);
  await Promise.all(keys.map((key) => limit(() => store.delete(key))));
}

async function keysBelow(store: ObjectStore, folder: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(folder)) keys.push(key);
  return keys;
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

function parseIdsName(key: string): IdsFile[] {
  const [, from, to] = IDS_NAME.exec(nameOf(key)) ?? [];
  return from === undefined || to === undefined ? [] : [{ key, from: Number(from), to: Number(to) }];
}

/** Empty when the object has expired meanwhile, or is too large to be one of ours. */
async function contentOf(store: ObjectStore, key: string): Promise<Buffer> {
  const reading = await store.read(key);
  if (reading === null) return Buffer.alloc(0);
  if (reading.info.size <= MAX_FILE_BYTES) return buffer(reading.body);
  reading.body.destroy();
  return Buffer.alloc(0);
}

function parseStretches(body: Buffer): RecordedStretch[] {
  try {
    const { v, at, stretches } = JSON.parse(body.toString('utf8')) as Partial<Record<string, unknown>>;
    const isOwn = v === 1 && typeof at === 'number' && Array.isArray(stretches);
    return isOwn ? stretches.flatMap((row) => parseStretch(row, at)) : [];
  } catch {
    return [];
  }
}

function parseStretch(row: unknown, at: number): RecordedStretch[] {
  if (!Array.isArray(row) || row.length !== 4 || !row.every(Number.isSafeInteger)) return [];
  const [from, to, matched, ignored] = row as [number, number, number, number];
  return from <= to ? [{ from, to, matched, ignored, at }] : [];
}

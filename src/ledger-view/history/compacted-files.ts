import pLimit from 'p-limit';
import { LEDGER_FOLDER, parquetKey, ROLLUPS_FOLDER, rollupKey } from '../../archive/layout.js';
import { type LedgerFile, openLedgerFile } from '../../archive/ledger/compaction/open-ledger-file.js';
import { readRollup } from '../../archive/ledger/compaction/read-rollup.js';
import { OTHER, type Rollup } from '../../archive/ledger/compaction/rollup.js';
import type { ObjectStore } from '../../store/object-store.js';
import { createWorkQueue } from '../../time/work-queue.js';
import type { RowSearch } from '../delivery-query.js';
import type { LedgerHour } from './ledger-hours.js';

/** A Parquet file of an hour, by its rollup. */
export interface CompactedFile {
  readonly key: string;
  /** Size of the file; undefined where the rollup is damaged. */
  readonly bytes: number | undefined;
  /** Times of receipt of the first and the last line, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  /** Names of the last segment that it covers; null where it is unknown. */
  readonly lastSegment: string | null;
  /** The combinations of filter values of its lines; null where they are unknown. */
  readonly groups: readonly GroupNames[] | null;
}

const GROUP_FIELDS = ['source', 'region', 'status', 'outcome', 'origin'] as const;
type GroupNames = Readonly<Record<(typeof GROUP_FIELDS)[number], string | null>>;

export interface CompactedHour {
  readonly files: readonly CompactedFile[];
  /** The files cover all segments up to this name; null when that is not certain. */
  readonly coveredTo: string | null;
}

/** The compacted files of hours. What never changes is kept, within bounds. Methods throw `StoreError`. */
export interface CompactedFiles {
  of(hour: LedgerHour): Promise<CompactedHour>;
  /** Opens a file, or takes it from the cache. Null when it is missing. */
  open(file: CompactedFile): Promise<LedgerFile | null>;
}

/** Descriptions take some kilobytes each. */
const MAX_KEPT = 2000;
/** An open file takes some 3 KiB for every thousand rows. */
const MAX_OPEN = 8;
const CONCURRENCY = 16;

export function createCompactedFiles(store: ObjectStore): CompactedFiles {
  const limit = pLimit(CONCURRENCY);
  const decode = createWorkQueue();
  const kept = new Map<string, CompactedFile | null>();
  const open = new Map<string, Promise<LedgerFile | null>>();

  async function describe(hour: string, n: number): Promise<CompactedFile | null> {
    const key = rollupKey(hour, n);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const rollup = await limit(() => readRollup(store, key, decode));
    if (rollup === null) return unknownFile(parquetKey(hour, n));
    const file = fileOf(rollup);
    remember(kept, key, file, MAX_KEPT);
    return file;
  }

  return {
    async of({ partition }) {
      const hour = partition.slice(LEDGER_FOLDER.length);
      const numbers: number[] = [];
      for await (const { key } of store.list(ROLLUPS_FOLDER + hour)) {
        const [, number] = /\/(\d{4,})\.json$/.exec(key) ?? [];
        if (number !== undefined) numbers.push(Number(number));
      }
      const described = await Promise.all(numbers.map((n) => describe(hour, n)));
      const files = described.filter((file) => file !== null);
      const last = files.map(({ lastSegment }) => lastSegment);
      // A number without rollup is a file that is being made.
      const isWhole = Math.max(0, ...numbers) === numbers.length && !last.includes(null);
      return { files, coveredTo: isWhole ? (last.sort().at(-1) ?? null) : null };
    },
    async open(file) {
      const known = open.get(file.key);
      const opening = known ?? limit(() => openLedgerFile(store, file.key, file.bytes, decode));
      remember(open, file.key, opening, MAX_OPEN);
      try {
        return await opening;
      } catch (error) {
        open.delete(file.key);
        throw error;
      }
    },
  };
}

/** Whether a file may hold lines that a search wants. */
export function mayHold({ first, last, groups }: CompactedFile, { filters, since }: RowSearch): boolean {
  if (last < since || first > last) return false;
  if (groups === null) return true;
  return groups.some((group) =>
    GROUP_FIELDS.every((field) => {
      const wanted = filters[field];
      return wanted === undefined || group[field] === wanted || group[field] === OTHER;
    }),
  );
}

/** Null for a file without rows, which covers segments all the same. */
function fileOf({ parquet, segments, firstReceivedAt, lastReceivedAt, slots }: Rollup): CompactedFile {
  const groups = new Map<string, GroupNames>();
  for (const group of slots.flatMap((slot) => slot.groups)) {
    const { source, region, status, outcome, origin } = group;
    const names = { source, region, status, outcome, origin };
    groups.set(JSON.stringify(Object.values(names)), names);
  }
  return {
    key: parquet?.key ?? '',
    bytes: parquet?.bytes,
    first: firstReceivedAt === null ? Number.POSITIVE_INFINITY : Date.parse(firstReceivedAt),
    last: lastReceivedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(lastReceivedAt),
    lastSegment: nameOf(segments.reduce((last, name) => (name > last ? name : last), '')),
    groups: [...groups.values()],
  };
}

function unknownFile(key: string): CompactedFile {
  return {
    key,
    bytes: undefined,
    first: Number.NEGATIVE_INFINITY,
    last: Number.POSITIVE_INFINITY,
    lastSegment: null,
    groups: null,
  };
}

function nameOf(segment: string): string {
  return segment.replace(/\.ndjson$/, '');
}

function remember<Value>(cache: Map<string, Value>, key: string, value: Value, most: number): void {
  cache.delete(key);
  cache.set(key, value);
  const oldest = cache.keys().next();
  if (cache.size > most && !oldest.done) cache.delete(oldest.value);
}

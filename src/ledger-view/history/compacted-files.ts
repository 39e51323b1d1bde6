import pLimit from 'p-limit';
import { LedgerFileError } from '../../ledger/compact/ledger-file-error.js';
import { listRollups } from '../../ledger/compact/list-rollups.js';
import { type LedgerFile, openLedgerFile } from '../../ledger/compact/open-ledger-file.js';
import { readRollup } from '../../ledger/compact/read-rollup.js';
import { OTHER, type Rollup } from '../../ledger/compact/rollup.js';
import { extentOf, type FileExtent, parquetKeyOf } from '../../ledger/compact/rollup-extent.js';
import { LEDGER_FOLDER } from '../../ledger/ledger-keys.js';
import type { ObjectStore } from '../../store/object-store.js';
import { createWorkQueue } from '../../time/work-queue.js';
import type { RowSearch } from '../delivery-query.js';
import type { LedgerHour } from './ledger-hours.js';

/** A Parquet file of an hour, by its rollup. */
export interface CompactedFile {
  readonly key: string;
  /** What the rollup says of the file; null where the rollup is damaged or missing. */
  readonly extent: FileExtent | null;
  /** Times of receipt of the first and the last line, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  /** Lines of its segments that are not in it, because they cannot be read. */
  readonly unreadable: number;
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
  /** Rollups that are damaged or missing, and files that lack lines. */
  readonly faults: readonly string[];
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
  const kept = new Map<string, CompactedFile>();
  const open = new Map<string, Promise<LedgerFile | null>>();

  async function describe(key: string): Promise<CompactedFile> {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const rollup = await limit(() => readRollup(store, key, decode));
    if (rollup === null) return unknownFile(parquetKeyOf(key));
    const file = fileOf(rollup);
    remember(kept, key, file, MAX_KEPT);
    return file;
  }

  return {
    async of({ partition }) {
      const { rollups, lost } = await listRollups(store, partition.slice(LEDGER_FOLDER.length));
      const keys = [...rollups.map(({ key }) => key), ...lost];
      const files = await Promise.all(keys.map(describe));
      const last = files.map(({ lastSegment }) => lastSegment);
      // A number without rollup is a file that is being made.
      const isWhole = numberOf(keys.at(-1)) === keys.length && !last.includes(null);
      const faults = keys.flatMap((key, index) => faultOf(key, files[index]) ?? []);
      return { files, faults, coveredTo: isWhole ? (last.sort().at(-1) ?? null) : null };
    },
    async open(file) {
      const known = open.get(file.key);
      const extent = file.extent ?? undefined;
      const opening = known ?? limit(() => openLedgerFile(store, file.key, extent, decode));
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
export function mayHold(
  { first, last, groups }: CompactedFile,
  { filters, lists, since }: RowSearch,
): boolean {
  if (last < since || first > last) return false;
  if (groups === null) return true;
  return groups.some(
    (group) =>
      (group.origin === OTHER || lists(group.origin ?? '')) &&
      GROUP_FIELDS.every((field) => {
        const wanted = filters[field];
        return wanted === undefined || group[field] === wanted || group[field] === OTHER;
      }),
  );
}

/** A file without rows covers segments all the same. */
function fileOf(rollup: Rollup): CompactedFile {
  const { parquet, segments, slots } = rollup;
  const extent = extentOf(rollup);
  const groups = new Map<string, GroupNames>();
  for (const group of slots.flatMap((slot) => slot.groups)) {
    const { source, region, status, outcome, origin } = group;
    const names = { source, region, status, outcome, origin };
    groups.set(JSON.stringify(Object.values(names)), names);
  }
  return {
    key: parquet?.key ?? '',
    extent,
    first: extent?.first ?? Number.POSITIVE_INFINITY,
    last: extent?.last ?? Number.NEGATIVE_INFINITY,
    unreadable: rollup.broken + rollup.newer,
    lastSegment: nameOf(segments.reduce((last, name) => (name > last ? name : last), '')),
    groups: [...groups.values()],
  };
}

function unknownFile(key: string): CompactedFile {
  return {
    key,
    extent: null,
    first: Number.NEGATIVE_INFINITY,
    last: Number.POSITIVE_INFINITY,
    unreadable: 0,
    lastSegment: null,
    groups: null,
  };
}

function faultOf(rollupKey: string, file?: CompactedFile): string | null {
  if (file === undefined || file.lastSegment === null)
    return new LedgerFileError(rollupKey, 'it is missing, or no rollup of its hour and version').message;
  if (file.unreadable === 0) return null;
  return `${rollupKey} counts lines that cannot be read (${file.unreadable})`;
}

function numberOf(rollupKey = ''): number {
  return Number(rollupKey.slice(rollupKey.lastIndexOf('/') + 1, -'.json'.length));
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

import pLimit from 'p-limit';
import type { ObjectStore } from '../../../store/object-store.js';
import { rollupKey } from '../../ledger-keys.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import { type LedgerFile, openLedgerFile } from '../../parquet/open-ledger-file.js';
import { readRollup } from '../../rollup/read-rollup.js';
import type { CoveredNumbers, Rollup, RollupParquet } from '../../rollup/rollup.js';
import { readHourFiles } from './hour-files.js';
import type { FieldGroups } from './log-filter.js';

/** A Parquet file of an hour, as its rollup describes it. */
export interface HourFile {
  readonly key: string;
  readonly hour: string;
  /** When its first and its last line were written, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  readonly covers: CoveredNumbers;
  readonly groups: FieldGroups;
  /** Opens it, or takes it from the cache. Rejects with `LedgerFileError` where it is missing or damaged, and with `StoreError`. */
  open(): Promise<LedgerFile>;
  /** The failing lines that its rollup lists. Rejects likewise. */
  attention(): Promise<Pick<Rollup, 'attention' | 'attentionOmitted'>>;
}

export interface DescribedHour {
  readonly hour: string;
  /** In the order of the log; null while the hour is not compacted as a whole: its segments have all of its lines. */
  readonly files: readonly HourFile[] | null;
  /** Folder of the hour before it that has lines, as its rollup says; null where it does not. */
  readonly previous: string | null;
  /** Rollups that are damaged or missing, and files that lack lines. */
  readonly faults: readonly Pick<LedgerFileError, 'key' | 'message'>[];
}

/** The compacted files of hours. What never changes is kept, within bounds. */
export interface CompactedHours {
  /** Rejects with `StoreError`. */
  of(hour: string): Promise<DescribedHour>;
}

/** Descriptions take some kilobytes each. */
const MAX_KEPT = 1000;
/** The footer and the bloom filters of an open file take some 5 KiB for every thousand rows. */
const MAX_OPEN = 16;
/** Failing lines of a rollup that are kept with its description. */
const FEW_LINES = 10;
const CONCURRENCY = 16;

export function createCompactedHours(store: ObjectStore): CompactedHours {
  const limit = pLimit(CONCURRENCY);
  const kept = new Map<string, DescribedHour>();
  const opened = new Map<string, Promise<LedgerFile>>();

  async function open(parquet: RollupParquet): Promise<LedgerFile> {
    const { key } = parquet;
    const opening = opened.get(key) ?? limit(() => openLedgerFile(store, parquet));
    remember(opened, key, opening, MAX_OPEN);
    try {
      return await opening;
    } catch (error) {
      opened.delete(key);
      throw error;
    }
  }

  function fileOf(rollup: Rollup): HourFile[] {
    const { parquet, first, last, hour, writers, n, attentionOmitted } = rollup;
    const few = rollup.attention.length <= FEW_LINES ? rollup.attention : null;
    if (parquet === null || first === null || last === null) return [];
    return [
      {
        ...{ key: parquet.key, hour, first: Date.parse(first), last: Date.parse(last), covers: writers },
        groups: groupsOf(rollup),
        open: () => open(parquet),
        async attention() {
          if (few !== null) return { attention: few, attentionOmitted };
          const key = rollupKey(hour, n);
          const again = await limit(() => readRollup(store, key));
          if (again === null) throw new LedgerFileError(key, 'it is no rollup of its hour and version');
          return again;
        },
      },
    ];
  }

  return {
    async of(hour) {
      const known = kept.get(hour);
      if (known !== undefined) return known;
      const { rollups, isCompacted, faults } = await limit(() => readHourFiles(store, hour));
      const described: DescribedHour = {
        hour,
        files: isCompacted ? rollups.flatMap(fileOf).sort((a, b) => a.first - b.first) : null,
        previous: rollups[0]?.previous ?? null,
        faults: [...faults, ...rollups.flatMap(unreadableIn)],
      };
      if (isCompacted) remember(kept, hour, described, MAX_KEPT);
      return described;
    },
  };
}

function unreadableIn({ hour, n, broken, newer }: Rollup): DescribedHour['faults'] {
  const key = rollupKey(hour, n);
  if (broken + newer === 0) return [];
  return [{ key, message: `${key} counts lines that cannot be read (${broken + newer})` }];
}

/** Each combination once. */
function groupsOf({ slots }: Rollup): FieldGroups {
  const groups = new Map<string, NonNullable<FieldGroups>[number]>();
  for (const { source, region, status, outcome, origin } of slots.flatMap((slot) => slot.groups)) {
    const names = { source, region, status, outcome, origin };
    groups.set(JSON.stringify(Object.values(names)), names);
  }
  return [...groups.values()];
}

function remember<Value>(cache: Map<string, Value>, key: string, value: Value, most: number): void {
  cache.delete(key);
  cache.set(key, value);
  const oldest = cache.keys().next();
  if (cache.size > most && !oldest.done) cache.delete(oldest.value);
}

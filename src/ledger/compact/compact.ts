import type { ObjectStore } from '../../store/object-store.js';
import { cooperativeYield } from '../../time/cooperative-yield.js';
import { COMPACTION_FOLDER, DAILY_ROLLUPS_FOLDER, LEDGER_FOLDER, ROLLUPS_FOLDER } from '../ledger-keys.js';
import { type CompactionRun, compactDay, type LedgerDay } from './compact-day.js';
import type { CompactionParts } from './compaction-parts.js';
import { type CompactionReport, createCompactionReport } from './compaction-report.js';
import type { Rollup } from './rollup.js';

export interface CompactOptions {
  /** Looks for late segments in every hour that ends later; default: in recent hours only. */
  readonly since?: Date | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with every file that this run finished, and the report so far. */
  readonly onFile?: ((rollup: Rollup, report: CompactionReport) => void) | undefined;
}

/**
 * Compacts the closed hours of the ledger, oldest first, sums up days, and deletes segments as `keepSegments` says. Any
 * number of processes may do so at once and be killed at any point: the next run continues. Never throws: what failed is
 * in the report.
 */
export async function compact(
  given: CompactionParts,
  { since, signal, onFile }: CompactOptions = {},
): Promise<CompactionReport> {
  const pause = given.pause ?? cooperativeYield();
  const parts: CompactionParts = {
    ...given,
    pause() {
      signal?.throwIfAborted();
      return pause();
    },
  };
  const now = parts.clock();
  const report = createCompactionReport(now);
  const run: CompactionRun = {
    parts,
    now,
    since: since?.getTime() ?? null,
    signal,
    report,
    failures: 0,
    onFile(rollup) {
      report.files += 1;
      report.lines += rollup.rows;
      report.segments += rollup.segments.length;
      report.broken += rollup.broken;
      report.newer += rollup.newer;
      onFile?.(rollup, report);
    },
  };
  try {
    for (const day of await listDays(parts.store)) {
      signal?.throwIfAborted();
      await compactDay(run, day);
    }
  } catch (error) {
    if (signal?.aborted) report.interrupted = true;
    else report.faults.push({ hour: null, reason: error instanceof Error ? error.message : String(error) });
  }
  report.finishedAt = new Date(parts.clock()).toISOString();
  return report;
}

const DAY_FOLDER = /^dt=(\d{4}-\d\d-\d\d)\/$/;

/** Oldest first. */
async function listDays(store: ObjectStore): Promise<LedgerDay[]> {
  const [withSegments, withRollups, withDailyRollup] = await Promise.all([
    listDayNames(store, LEDGER_FOLDER),
    listDayNames(store, ROLLUPS_FOLDER),
    listDayNames(store, DAILY_ROLLUPS_FOLDER),
  ]);
  const planned = new Map<string, Set<string>>();
  for await (const { key } of store.list(COMPACTION_FOLDER)) {
    const hour = key.slice(COMPACTION_FOLDER.length, key.lastIndexOf('/') + 1);
    const day = DAY_FOLDER.exec(hour.slice(0, hour.indexOf('/') + 1))?.[1];
    if (day === undefined) continue;
    planned.set(day, (planned.get(day) ?? new Set()).add(hour));
  }
  return [...new Set([...withSegments, ...withRollups, ...planned.keys()])].sort().map((name) => ({
    name,
    hasSegments: withSegments.has(name),
    hasRollups: withRollups.has(name),
    hasDailyRollup: withDailyRollup.has(name),
    planned: planned.get(name) ?? new Set(),
  }));
}

async function listDayNames(store: ObjectStore, folder: string): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const key of store.folders(folder)) {
    const name = DAY_FOLDER.exec(key.slice(folder.length))?.[1];
    if (name !== undefined && !Number.isNaN(Date.parse(name))) names.add(name);
  }
  return names;
}

import { REPORTS_FOLDER, reconcileReportKey } from '../archive/layout.js';
import type { ObjectStore } from '../store/object-store.js';
import { readDocument } from './read-document.js';

/** The last reconcile run in figures. */
export interface ReconcileFigures {
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly window: unknown;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Jobs that should be here. */
  readonly expected: number;
  /** Jobs that are here: matched, recovered, conflict. */
  readonly received: number;
  /** Jobs that should be here and are not: unrecoverable, failed. */
  readonly missing: number;
}

const DAYS = 24 * 3_600_000;

/** Null before the first run. */
export async function lastReconcile(
  store: ObjectStore,
  now: number = Date.now(),
): Promise<ReconcileFigures | null> {
  // Reports gather over the years; the last one is nearly always a recent one.
  const recent = reconcileReportKey(new Date(now - 2 * DAYS).toISOString());
  const key = (await lastKey(store, recent)) ?? (await lastKey(store));
  const report = key === null ? null : await readDocument(store, key, 64 * 1024 * 1024);
  return report === null ? null : figuresOf(report);
}

async function lastKey(store: ObjectStore, startAfter?: string): Promise<string | null> {
  let last: string | null = null;
  for await (const { key } of store.list(REPORTS_FOLDER, startAfter === undefined ? {} : { startAfter })) {
    if (key.endsWith('.json')) last = key;
  }
  return last;
}

function figuresOf(report: Record<string, unknown>): ReconcileFigures {
  const outcomes = countsOf(report.outcomes);
  const sum = (...names: string[]) => names.reduce((total, name) => total + (outcomes[name] ?? 0), 0);
  return {
    startedAt: textOf(report.startedAt),
    finishedAt: textOf(report.finishedAt),
    window: report.window ?? null,
    outcomes,
    expected: Object.values(outcomes).reduce((total, count) => total + count, 0),
    received: sum('matched', 'recovered', 'conflict'),
    missing: sum('unrecoverable', 'failed'),
  };
}

function countsOf(value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  );
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

import { RETENTION_CLASSES, type RetentionClass } from '../../domain/retention-class.js';
import type { ExpiredBefore, RetentionPeriods } from './retention-view.js';

/** What a sweep removed, or would remove; printed by `retention --json`. */
export interface RetentionReport {
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly store: string;
  /** Nothing was removed. */
  readonly dryRun: boolean;
  /** The sweep saw everything, and removed what had ended. */
  readonly complete: boolean;
  /** The kinds that have a period. */
  readonly kinds: Readonly<Partial<Record<RetentionClass, ExpiredKind>>>;
  /** Objects that another process was removing; when that one died, they are removed and recorded after ten minutes. */
  readonly inProgress: number;
  /** Files in the folders of jobs that are not of the layout: they stay, whatever their age. */
  readonly foreign: { readonly objects: number; readonly first: readonly string[] };
  /** At most `MAX_FAULTS`. */
  readonly faults: readonly { readonly key: string | null; readonly reason: string }[];
}

interface ExpiredKind {
  /** ISO 8601: what was received before has ended. */
  readonly before: string;
  readonly objects: number;
  readonly bytes: number;
}

export const MAX_FAULTS = 100;
const MAX_FOREIGN = 10;

export interface RetentionTally {
  readonly objects: number;
  readonly bytes: number;
  readonly faults: number;
  add(kind: RetentionClass, objects: number, bytes: number): void;
  fault(key: string | null, reason: string): void;
  skip(): void;
  foreign(key: string): void;
  report(facts: Pick<RetentionReport, 'startedAt' | 'finishedAt' | 'store' | 'dryRun'>): RetentionReport;
}

export function createRetentionTally(
  periods: RetentionPeriods,
  expiredBefore: ExpiredBefore,
): RetentionTally {
  const counts = new Map<RetentionClass, { objects: number; bytes: number }>(
    RETENTION_CLASSES.filter((kind) => periods[kind] !== null).map((kind) => [
      kind,
      { objects: 0, bytes: 0 },
    ]),
  );
  const faults: RetentionReport['faults'][number][] = [];
  const foreign: string[] = [];
  let foreignObjects = 0;
  let inProgress = 0;
  let faulty = 0;
  const total = { objects: 0, bytes: 0 };
  return {
    get objects() {
      return total.objects;
    },
    get bytes() {
      return total.bytes;
    },
    get faults() {
      return faulty;
    },
    add(kind, objects, bytes) {
      const known = counts.get(kind);
      if (known !== undefined) {
        known.objects += objects;
        known.bytes += bytes;
      }
      total.objects += objects;
      total.bytes += bytes;
    },
    fault(key, reason) {
      faulty += 1;
      if (faults.length < MAX_FAULTS) faults.push({ key, reason });
    },
    skip() {
      inProgress += 1;
    },
    foreign(key) {
      foreignObjects += 1;
      if (foreign.length < MAX_FOREIGN) foreign.push(key);
    },
    report: (facts) => ({
      ...facts,
      complete: faulty === 0,
      kinds: Object.fromEntries(
        [...counts].map(([kind, count]) => [
          kind,
          { before: new Date(expiredBefore(kind)).toISOString(), ...count },
        ]),
      ),
      inProgress,
      foreign: { objects: foreignObjects, first: foreign },
      faults,
    }),
  };
}

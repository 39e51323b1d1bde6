import { CANARY_FOLDER } from '../../archive/layout.js';
import { sharedRead } from '../../lib/time/shared-read.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';

/** The report that a replica wrote with its canary. */
interface ReplicaReport {
  readonly key: string;
  readonly writtenAt: Date;
  /** Untrusted JSON: any client of the store may have written it. */
  readonly report: unknown;
}

export interface ReplicaReports {
  /** When a replica last wrote a canary; null when there is none. */
  readonly newest: Date | null;
  /** Recent reports. */
  readonly reports: readonly ReplicaReport[];
  /** Replicas whose last report is within the hour but not recent, while others are: they did not shut down cleanly. */
  readonly silent: readonly SilentReplica[];
}

interface SilentReplica {
  readonly key: string;
  readonly replica: string;
  /** When it last wrote. */
  readonly since: Date;
}

interface Canary {
  readonly key: string;
  readonly modifiedAt: Date;
}

/** The name of a replica in the key of its canary. */
const CANARY = /^\.canary\/(.+)-[0-9a-f]{8}$/;
const MISSED_CHECKS = 3;
/** Milliseconds by which the clocks of the store and of this machine may differ unnoticed. */
const CLOCK_SKEW = 60_000;
/** Bounds the reports read; autoscaling stops far below. */
const MAX_REPLICAS = 100;
const MAX_BYTES = 64 * 1024;
/** Milliseconds after which a replica that was killed is forgotten. */
const SILENT_FOR = 3_600_000;
/** Milliseconds that the reports are cached. */
const SHARED_FOR = 5_000;

/**
 * Reads what the replicas report. Rejects with `StoreError`.
 *
 * @param interval milliseconds between the checks of a canary
 * @param clock milliseconds since the epoch
 */
export function createReplicaReportsReader(
  store: Pick<ObjectStore, 'list' | 'read' | 'clockOffset'>,
  interval: number,
  clock = Date.now,
): () => Promise<ReplicaReports> {
  const recentFor = MISSED_CHECKS * interval + CLOCK_SKEW;
  let known = new Map<string, ReplicaReport>();

  async function read(): Promise<ReplicaReports> {
    const canaries = await Array.fromAsync(store.list(CANARY_FOLDER));
    // After the listing, because a new process learns the store's clock from its answers.
    const now = clock() + store.clockOffset();
    let newest: Date | null = null;
    const found: Canary[] = [];
    /** Last canary of each replica name, because a restarted replica has a new key. */
    const last = new Map<string, Canary>();
    for (const { key, modifiedAt } of canaries) {
      if (newest === null || modifiedAt > newest) newest = modifiedAt;
      if (modifiedAt.getTime() > now - recentFor) found.push({ key, modifiedAt });
      const replica = CANARY.exec(key)?.[1];
      if (replica === undefined || modifiedAt <= (last.get(replica)?.modifiedAt ?? new Date(0))) continue;
      last.set(replica, { key, modifiedAt });
    }
    const unheard = [...last.values()].filter(({ modifiedAt }) => {
      const age = now - modifiedAt.getTime();
      return found.length > 0 && age >= recentFor && age < SILENT_FOR;
    });
    const reports = await reportsOf(found);
    const silent = await reportsOf(unheard);
    known = new Map([...reports, ...silent].map((report) => [report.key, report]));
    return { newest, reports, silent: silent.flatMap(silentReplicas) };
  }

  async function reportsOf(canaries: readonly Canary[]): Promise<ReplicaReport[]> {
    const newestFirst = canaries.toSorted((a, b) => Number(b.modifiedAt) - Number(a.modifiedAt));
    const read = newestFirst.slice(0, MAX_REPLICAS);
    return Promise.all(read.map(({ key, modifiedAt }) => reportAt(key, modifiedAt)));
  }

  async function reportAt(key: string, writtenAt: Date): Promise<ReplicaReport> {
    const before = known.get(key);
    if (before?.writtenAt.getTime() === writtenAt.getTime()) return before;
    const document = await readDocument(store, key, MAX_BYTES);
    return { key, writtenAt, report: document?.report ?? null };
  }

  return sharedRead(SHARED_FOR, read);
}

/** Empty for a command, whose canary has no report. */
function silentReplicas({ key, writtenAt, report }: ReplicaReport): SilentReplica[] {
  return report === null ? [] : [{ key, replica: CANARY.exec(key)?.[1] ?? key, since: writtenAt }];
}

/**
 * Whether a replica is the one that does work for all: the one whose canary has the first key. For a short time it may be two, or none.
 *
 * @param ownKey key of its canary
 */
export function isFirstReplica({ reports }: Pick<ReplicaReports, 'reports'>, ownKey: string): boolean {
  // Canaries of commands have no report.
  return reports.every(({ key, report }) => report === null || key >= ownKey);
}

/** Milliseconds that a receiver may take to write its canary. */
const WRITES_WITHIN = 10_000;

/** Largest age in milliseconds of the canary of a running receiver, by the interval between checks. */
export function oldestCanary(interval: number): number {
  return 2 * interval + WRITES_WITHIN;
}

/**
 * Whether a receiver has proven the store recently, by the store's clock.
 *
 * @param newest time of the newest canary
 * @param interval milliseconds between the checks of a canary
 */
export function hasProof(
  store: Pick<ObjectStore, 'clockOffset'>,
  newest: Date | null,
  interval: number,
): boolean {
  return newest !== null && Date.now() + store.clockOffset() - newest.getTime() < interval + WRITES_WITHIN;
}

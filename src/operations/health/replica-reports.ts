import { CANARY_FOLDER } from '../../archive/layout.js';
import { sharedRead } from '../../lib/time/shared-read.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';

/** What a replica said of itself with its canary. */
interface ReplicaReport {
  readonly key: string;
  readonly writtenAt: Date;
  /** A JSON value that any writer of the store may have made. */
  readonly report: unknown;
}

export interface ReplicaReports {
  /** When a replica last wrote a canary; null when there is none. */
  readonly newest: Date | null;
  /** Reports of the replicas that wrote theirs lately. */
  readonly reports: readonly ReplicaReport[];
  /** Replicas that wrote within the last hour and not lately, while others did: they did not stop in order. */
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
/** Milliseconds that the clocks of the store and of this machine may differ unnoticed. */
const CLOCK_SKEW = 60_000;
/** Replicas that are read; autoscaling stops far below. */
const MAX_REPLICAS = 100;
const MAX_BYTES = 64 * 1024;
/** Milliseconds after which a replica that was killed is forgotten. */
const SILENT_FOR = 3_600_000;
/** Milliseconds for which the reports are read once for all who ask. */
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
    // A process that has just begun knows the store's clock by its answers alone.
    const now = clock() + store.clockOffset();
    let newest: Date | null = null;
    const found: Canary[] = [];
    /** The last one of each replica: one that was started again under its name has another key. */
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
    return { newest, reports, silent: silent.flatMap(asSilent) };
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

/** None for a command, whose canary has no report. */
function asSilent({ key, writtenAt, report }: ReplicaReport): SilentReplica[] {
  return report === null ? [] : [{ key, replica: CANARY.exec(key)?.[1] ?? key, since: writtenAt }];
}

/**
 * Whether a replica is the one that does what one of them does: the one whose canary has the first key. Two may be for a while, or none.
 *
 * @param ownKey key of its canary
 */
export function isFirstReplica({ reports }: Pick<ReplicaReports, 'reports'>, ownKey: string): boolean {
  // Canaries of commands have no report.
  return reports.every(({ key, report }) => report === null || key >= ownKey);
}

/** Milliseconds that a receiver may take to write its canary. */
const WRITES_WITHIN = 10_000;

/** Milliseconds since its last canary after which a receiver no longer writes, at an interval between the checks. */
export function oldestCanary(interval: number): number {
  return 2 * interval + WRITES_WITHIN;
}

/**
 * Whether a receiver proves the store by writing to it, by the store's clock.
 *
 * @param newest when one wrote its canary last
 * @param interval milliseconds between the checks of a canary
 */
export function hasProof(
  store: Pick<ObjectStore, 'clockOffset'>,
  newest: Date | null,
  interval: number,
): boolean {
  return newest !== null && Date.now() + store.clockOffset() - newest.getTime() < interval + WRITES_WITHIN;
}

import { hash } from 'node:crypto';
import { erasureKey } from '../../archive/layout.js';
import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import { type ArtefactClaim, objectKindOf } from './artefact-claims.js';
import type { VerifyFinding } from './verify-finding.js';
import type { ChosenVersion, SettledAs } from './verify-report.js';

export type JobSettlements = ReturnType<typeof createJobSettlements>;

/** Milliseconds that the clocks of two replicas may differ: while one erases a job, another may still store something of it. */
const CLOCK_DIFFERENCE = 600_000;

/** The sweep writes a line per job and kind: 8 bytes of hash and 8 of time each, and their place in the map. */
const MAX_EXPIRED = 1_000_000;

/** Bound of each of the other maps: operators write these lines one by one. */
const MAX_JOBS = 100_000;

/**
 * Collects why artefacts may differ from their lines: an operator erased the job, accepted a loss or chose a version, a sweep removed
 * them, or they were lost and fetched again with other content.
 */
export function createJobSettlements(store: ObjectStore) {
  const erased = new Map<string, string>();
  const acknowledged = new Map<string, string>();
  const expired = new Map<number, number>();
  const choices = new Map<string, ChosenVersion>();
  const fetched = new Map<
    string,
    Pick<ArtefactClaim, 'size' | 'sha256'> & { readonly choice: ChosenVersion }
  >();
  return {
    /** Notes the line of an operator or of a sweep. Lines come in any order; the latest counts. */
    note({ outcome, jobId, receivedAt, expired: what, items: [first], actor, reason }: LedgerLine): void {
      if (outcome === 'chosen' && first !== undefined) {
        const choice = { chosenAt: receivedAt, actor: actor ?? null, reason };
        keepLatest(choices, first.key, choice, ({ chosenAt }) => chosenAt);
      }
      if (outcome === 'expired' && jobId !== null && what !== undefined) {
        const name = nameOf(jobId, what.kind);
        const last = expired.get(name);
        if (last !== undefined || expired.size < MAX_EXPIRED)
          expired.set(name, Math.max(last ?? 0, Date.parse(receivedAt)));
        return;
      }
      if (jobId === null) return;
      if (outcome === 'erased') keepLatest(erased, jobId, receivedAt, (time) => time);
      if (outcome === 'acknowledged') keepLatest(acknowledged, jobId, receivedAt, (time) => time);
    },
    /** Notes an artefact that recovery stored at a key for which earlier lines record other content. */
    noteFetched({ key, size, sha256, receivedAt }: ArtefactClaim, { actor, reason }: LedgerLine): void {
      const choice = { chosenAt: receivedAt, actor: actor ?? null, reason };
      keepLatest(fetched, key, { size, sha256, choice }, (one) => one.choice.chosenAt);
    },
    /** Whether the job's mark in the store shows an erasure at or after an instant. Throws `StoreError`. */
    async isErasedSince(jobId: string, instant: string): Promise<boolean> {
      const mark = await store.head(erasureKey(jobId));
      if (mark === null) return false;
      const { erasedAt, finishedAt } = (await readDocument(store, mark.key)) ?? {};
      const times = [erasedAt, finishedAt].filter((time) => typeof time === 'string').map(Date.parse);
      const last = times.length === 0 ? mark.modifiedAt.getTime() : Math.max(...times);
      return instant === '' || Date.parse(instant) <= last + CLOCK_DIFFERENCE;
    },
    /** Why a finding is not open, by the lines that were noted; null when it is. */
    settled({ jobId, receivedAt, kind, reason, key, found }: VerifyFinding): SettledAs | null {
      if (jobId === null) return null;
      if ((erased.get(jobId) ?? '') >= receivedAt) return 'erased';
      const expiredAt = expired.get(nameOf(jobId, objectKindOf(kind))) ?? Number.NEGATIVE_INFINITY;
      if (reason === 'missing' && expiredAt >= Date.parse(receivedAt)) return 'expired';
      if ((acknowledged.get(jobId) ?? '') >= receivedAt) return 'acknowledged';
      const now = fetched.get(key);
      const isFetched = now !== undefined && now.size === found?.size && now.sha256 === found.sha256;
      return isFetched && now.choice.chosenAt >= receivedAt ? 'replaced' : null;
    },
    /** The last choice of a version of this artefact, or its recovery, by the lines that were noted; null without one. */
    choiceOf: (key: string) => choices.get(key) ?? fetched.get(key)?.choice ?? null,
  };
}

/** Keeps the latest of each key. */
function keepLatest<Noted>(
  known: Map<string, Noted>,
  key: string,
  noted: Noted,
  timeOf: (noted: Noted) => string,
): void {
  const last = known.get(key);
  if (last === undefined ? known.size < MAX_JOBS : timeOf(last) <= timeOf(noted)) known.set(key, noted);
}

/** 48 bits: another job has the name of one of a million lines once in 280 million. */
function nameOf(jobId: string, kind: string): number {
  return hash('sha256', `${jobId} ${kind}`, 'buffer').readUIntBE(0, 6);
}

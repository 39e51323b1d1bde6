import { erasureKey } from '../../archive/layout.js';
import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import type { VerifyFinding } from './verify-finding.js';

/** What operators did about artefacts: erased a job, or accepted a loss. */
export interface JobSettlements {
  /** Takes note of an operator's line. */
  note(line: LedgerLine): void;
  /** Whether the store's mark says that the job was erased at or after an instant. Throws `StoreError`. */
  isErasedSince(jobId: string, instant: string): Promise<boolean>;
  /** By the lines that were noted. */
  settled(finding: VerifyFinding): 'erased' | 'acknowledged' | null;
}

/** Milliseconds that the clocks of two replicas may differ: while one erases a job, another may still store something of it. */
const CLOCK_DIFFERENCE = 600_000;

/** Operators write these lines one by one. */
const MAX_JOBS = 100_000;

export function createJobSettlements(store: ObjectStore): JobSettlements {
  const erased = new Map<string, string>();
  const acknowledged = new Map<string, string>();
  return {
    note({ outcome, jobId, receivedAt }) {
      const known = outcome === 'erased' ? erased : outcome === 'acknowledged' ? acknowledged : null;
      if (known === null || jobId === null) return;
      const before = known.get(jobId);
      if (before === undefined ? known.size < MAX_JOBS : before < receivedAt) known.set(jobId, receivedAt);
    },
    async isErasedSince(jobId, instant) {
      const mark = await store.head(erasureKey(jobId));
      if (mark === null) return false;
      const { erasedAt, finishedAt } = (await readDocument(store, mark.key)) ?? {};
      const times = [erasedAt, finishedAt].filter((time) => typeof time === 'string').map(Date.parse);
      const last = times.length === 0 ? mark.modifiedAt.getTime() : Math.max(...times);
      return instant === '' || Date.parse(instant) <= last + CLOCK_DIFFERENCE;
    },
    settled({ jobId, receivedAt }) {
      if (jobId === null) return null;
      if ((erased.get(jobId) ?? '') >= receivedAt) return 'erased';
      return (acknowledged.get(jobId) ?? '') >= receivedAt ? 'acknowledged' : null;
    },
  };
}

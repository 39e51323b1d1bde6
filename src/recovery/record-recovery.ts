import type { ArtefactContext } from '../archive/artefact-headers.js';
import type { Ledger } from '../archive/ledger/ledger.js';
import { ledgerLine, NO_REQUEST } from '../archive/ledger/ledger-line.js';
import type { LedgerLine } from '../domain/delivery.js';
import { outcomeOfItems } from './conclude.js';
import type { ItemResult } from './fetch-missing.js';
import type { JobOrder } from './recovery-parts.js';
import type { RecoveredJob, RecoveryOutcome } from './recovery-report.js';

export interface RecoveryRecord {
  readonly told: RecoveredJob;
  readonly results: readonly ItemResult[];
  readonly contextOf: (source: string) => ArtefactContext;
  readonly order: Pick<JobOrder, 'actor' | 'alreadyRecorded'>;
  readonly durationMs: number;
}

/**
 * Writes what became of a job into the ledger, a line per source. Jobs that were found complete leave no
 * line, and what could not be fetched leaves one line, not one per run. What was stored always has one.
 */
export async function recordRecovery(ledger: Ledger, record: RecoveryRecord): Promise<void> {
  const sources = new Set(record.results.map(({ item }) => item.source));
  await Promise.all(
    [...sources].map(async (source) => {
      const results = record.results.filter(({ item }) => item.source === source);
      const outcome = outcomeOfItems(results);
      if (outcome === 'matched' || isRepetition(record, results, outcome)) return;
      await ledger.append(line(record, record.contextOf(source), outcome, results));
    }),
  );
}

function isRepetition(
  { told, order }: RecoveryRecord,
  results: readonly ItemResult[],
  outcome: RecoveryOutcome,
): boolean {
  const changesNothing = results.every(({ stored }) => stored === null);
  return changesNothing && order.alreadyRecorded(told.jobId, outcome);
}

function line(
  { told, order, durationMs }: RecoveryRecord,
  context: ArtefactContext,
  outcome: RecoveryOutcome,
  results: readonly ItemResult[],
): LedgerLine {
  const items = results.flatMap(({ stored }) => (stored === null ? [] : [stored]));
  return ledgerLine({
    ...NO_REQUEST,
    deliveryId: context.deliveryId,
    receivedAt: context.receivedAt,
    origin: context.origin,
    source: context.source,
    region: context.region,
    jobId: context.jobId,
    status: context.status,
    outcome,
    reason: told.reason,
    items,
    bytes: items.reduce((sum, { size }) => sum + size, 0),
    durationMs,
    actor: order.actor,
  });
}

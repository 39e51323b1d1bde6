import type { ArtefactContext } from '../../archive/artefact-headers.js';
import type { LedgerLine } from '../../domain/delivery.js';
import type { RecoveryOutcome } from '../../domain/recovery-outcome.js';
import { ledgerLine, NO_REQUEST, newDeliveryId } from '../../ledger/ledger-line.js';
import type { JobRecord } from '../../speech/wire.js';
import type { ExpectedItem } from '../expectation.js';
import { joinReasons } from '../plan-job.js';
import { failureReason } from '../recovery-errors.js';
import type { JobOptions, RecoveryParts } from '../recovery-parts.js';
import { outcomeOfItems } from '../report/job-result.js';
import type { RecoveredJob } from '../report/recovery-report.js';
import type { ItemResult } from './fetch-missing.js';

export interface RecoveryRecord {
  readonly result: RecoveredJob;
  readonly results: readonly ItemResult[];
  readonly contextOf: (item: ExpectedItem) => ArtefactContext;
  readonly options: Pick<JobOptions, 'actor' | 'openBefore'>;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** A delivery of its own for each source that the job belongs to, and for each context that the job gave it. */
export function createContexts(
  { sources }: Pick<RecoveryParts, 'sources'>,
  job: JobRecord,
  region: string,
  origin: JobOptions['origin'],
  now: number,
): (item: ExpectedItem) => ArtefactContext {
  const contexts = new Map<string, ArtefactContext>();
  return ({ source, submitted }) => {
    const delivery = JSON.stringify([source, submitted]);
    const context = contexts.get(delivery) ?? {
      deliveryId: newDeliveryId(now),
      jobId: job.id,
      // The status that the callback of a finished job carries.
      status: job.status === 'done' ? 'success' : null,
      source,
      region,
      origin,
      receivedAt: new Date(now).toISOString(),
      context: submitted.context,
      keyPrefix: sources[source]?.keyPrefix ?? '',
    };
    contexts.set(delivery, context);
    return context;
  };
}

/**
 * Writes the result of a job into the ledger, a line per delivery. A job that was found complete gets no line. A job that
 * could not be fetched gets one line, not one per run. A stored item is always in a line.
 *
 * A job whose line is missing from the ledger is `failed`, even when its artefacts are safe.
 */
export async function recordRecovery(parts: RecoveryParts, record: RecoveryRecord): Promise<RecoveredJob> {
  const { result, results, contextOf } = record;
  const deliveries = new Set(results.map(({ item }) => contextOf(item)));
  try {
    await Promise.all(
      [...deliveries].map(async (delivery) => {
        const own = results.filter(({ item }) => contextOf(item) === delivery);
        const outcome = outcomeOfItems(own);
        if (outcome === 'matched' || isRepetition(record, own, outcome)) return;
        await parts.ledger.append(lineOf(parts, record, delivery, outcome, own));
      }),
    );
    return result;
  } catch (error) {
    const note = `done, but missing in the ledger: ${failureReason(error)}`;
    return { ...result, outcome: 'failed', reason: joinReasons([result.reason, note]) };
  }
}

function isRepetition(
  { result, options }: RecoveryRecord,
  results: readonly ItemResult[],
  outcome: RecoveryOutcome,
): boolean {
  const changesNothing = results.every(({ stored }) => stored === null);
  return changesNothing && options.openBefore.get(result.jobId)?.outcome === outcome;
}

function lineOf(
  { clock }: RecoveryParts,
  { result, options, startedAt }: RecoveryRecord,
  { deliveryId, receivedAt, origin, source, region, jobId, status, context }: ArtefactContext,
  outcome: RecoveryOutcome,
  results: readonly ItemResult[],
): LedgerLine {
  const items = results.flatMap(({ stored }) => (stored === null ? [] : [stored]));
  return ledgerLine({
    ...NO_REQUEST,
    ...{ deliveryId, receivedAt, origin, source, region, jobId, status, context, outcome, items },
    reason: result.reason,
    bytes: items.reduce((sum, { size }) => sum + size, 0),
    durationMs: Math.max(0, clock() - startedAt),
    actor: options.actor,
    contextOmitted: results[0]?.item.submitted.contextOmitted ?? null,
  });
}

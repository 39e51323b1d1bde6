import type { LedgerLine } from '../../domain/delivery.js';
import { onlySource, type SourceScope } from '../../domain/rights.js';
import { newDeliveryId, operatorLine } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';

/** The operator's name, and the reason. */
export interface Acceptance {
  readonly actor: string;
  readonly reason: string;
  /** The sources of the client; the whole job has to belong to them. */
  readonly scope: SourceScope;
}

/**
 * Settles a job as it is: its conflicts and losses, and its quarantined bodies. Returns the ledger line. Rejects with
 * `StoreError`.
 */
export async function acknowledgeJob(
  ledger: Pick<Ledger, 'append'>,
  jobId: string,
  { actor, reason, scope }: Acceptance,
): Promise<LedgerLine> {
  const act = { deliveryId: newDeliveryId(), outcome: 'acknowledged', jobId, source: onlySource(scope) };
  const line = operatorLine({ actor, reason }, act);
  await ledger.append(line);
  return line;
}

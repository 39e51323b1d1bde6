import { settleBodies } from '../../archive/quarantine/settle-bodies.js';
import type { LedgerLine } from '../../domain/delivery.js';
import { isInScope, onlySource, type SourceScope } from '../../domain/rights.js';
import { newDeliveryId, operatorLine } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import type { ObjectStore } from '../../store/object-store.js';

export interface AcknowledgeParts {
  readonly store: ObjectStore;
  readonly ledger: Pick<Ledger, 'append'>;
}

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
  { store, ledger }: AcknowledgeParts,
  jobId: string,
  { actor, reason, scope }: Acceptance,
): Promise<LedgerLine> {
  const act = { deliveryId: newDeliveryId(), outcome: 'acknowledged', jobId, source: onlySource(scope) };
  const line = operatorLine({ actor, reason }, act);
  await ledger.append(line);
  const { deliveryId, receivedAt: settledAt } = line;
  const settlement = { v: 1, settledAt, by: 'acknowledged', deliveryId, actor, reason } as const;
  await settleBodies(store, jobId, settlement, (name) => isInScope(scope, name));
  return line;
}

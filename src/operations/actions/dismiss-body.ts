import type { QuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import type { Settlement } from '../../archive/quarantine/settle-bodies.js';
import { Problem } from '../../domain/problem.js';
import { newDeliveryId, operatorLine } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';

export interface DismissParts {
  readonly quarantine: QuarantineStore;
  readonly ledger: Pick<Ledger, 'append'>;
}

/**
 * Settles a quarantined body that need not be released. The body stays, and can still be released. Repeated, or of a body
 * that was settled before, it changes nothing and returns what settled the body first.
 *
 * Rejects with `not-found` for an unknown body, and when its job is erased meanwhile. Rejects with `conflict` when the body
 * was released.
 */
export async function dismissBody(
  { quarantine, ledger }: DismissParts,
  id: string,
  audit: { readonly actor: string; readonly reason: string },
): Promise<Settlement> {
  const [request, released] = await Promise.all([quarantine.request(id), quarantine.release(id)]);
  if (request === null) throw unknownBody();
  if (released !== null) throw new Problem('conflict', 'The body was released: there is nothing to dismiss.');
  const deliveryId = newDeliveryId();
  const settledAt = new Date().toISOString();
  const { jobId, source, region } = request;
  const own: Settlement = { v: 1, settledAt, by: 'dismissed', deliveryId, ...audit };
  const mark = await quarantine.markSettled(id, { jobId, source }, own);
  if (mark === null) throw unknownBody();
  if (mark.deliveryId !== deliveryId) return mark;
  const act = { deliveryId, receivedAt: settledAt, outcome: 'dismissed', jobId, source, region };
  await ledger.append(operatorLine(audit, act)).catch(async (error: unknown) => {
    // Without its line the dismissal is not acknowledged: the next attempt has to write both.
    await quarantine.unmarkSettled(id);
    throw error;
  });
  return mark;
}

export function unknownBody(): Problem {
  return new Problem('not-found', 'The quarantine has no body with this id.');
}

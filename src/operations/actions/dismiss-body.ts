import type { QuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import { Problem } from '../../domain/problem.js';
import { type Settlement, settlementOf } from '../../domain/quarantined-body.js';
import { bodyOf } from '../../index/bodies/list-bodies.js';
import type { LedgerView } from '../../index/ledger-view.js';
import { newDeliveryId, operatorLine } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';

export interface DismissParts {
  readonly quarantine: Pick<QuarantineStore, 'request'>;
  readonly view: Pick<LedgerView, 'bodies'>;
  readonly ledger: Pick<Ledger, 'append'>;
}

/**
 * Settles a quarantined body that need not be released. The body stays, and can still be released. Repeated, or of a body that an act
 * settled before, it changes nothing and returns what settled the body first, as far as the index of the ledger knows.
 *
 * Rejects with `not-found` for an unknown body. Rejects with `conflict` when the body was released.
 */
export async function dismissBody(
  { quarantine, view, ledger }: DismissParts,
  id: string,
  audit: { readonly actor: string; readonly reason: string },
): Promise<Settlement> {
  const request = await quarantine.request(id);
  if (request === null) throw unknownBody();
  const { release = null, settlement = null } = (await bodyOf(view, id)) ?? {};
  if (release !== null) throw new Problem('conflict', 'The body was released: there is nothing to dismiss.');
  if (settlement !== null) return settlementOf(settlement);
  const { jobId, source, region } = request;
  const act = { deliveryId: newDeliveryId(), outcome: 'dismissed', jobId, source, region, body: id };
  const line = operatorLine(audit, act);
  await ledger.append(line);
  return settlementOf(line);
}

export function unknownBody(): Problem {
  return new Problem('not-found', 'The quarantine has no body with this id.');
}

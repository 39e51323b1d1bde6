import { Problem } from '../../domain/problem.js';
import { type Settlement, settlementOf } from '../../domain/quarantined-body.js';
import { bodyOf } from '../../index/bodies/list-bodies.js';
import { newDeliveryId, operatorLine } from '../../ledger/ledger-line.js';
import { type ReleaseParts, unknownBody } from './release-body.js';

/**
 * Settles a quarantined body that need not be released. The body stays, and can still be released. Repeated, or of a body that an act
 * settled before, it changes nothing and returns what settled the body first, as far as the index of the ledger knows.
 *
 * Rejects with `not-found` for an unknown body. Rejects with `conflict` when the body was released.
 */
export async function dismissBody(
  { quarantine, view, ledger }: Pick<ReleaseParts, 'quarantine' | 'view' | 'ledger'>,
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

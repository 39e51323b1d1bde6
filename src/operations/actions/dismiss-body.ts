import { Problem } from '../../domain/problem.js';
import { type Settlement, settlementOf } from '../../domain/quarantined-body.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import { bodyOf } from '../../index/bodies/list-bodies.js';
import { newDeliveryId, operatorLine } from '../../ledger/ledger-line.js';
import { type ReleaseParts, unknownBody } from './release-body.js';

/**
 * Settles a quarantined body that need not be released. It may be lost from the store, as long as its ledger line lists it. The body stays,
 * and can still be released. For a body that an act has already settled it changes nothing and returns the earlier settlement, if the index
 * has it.
 *
 * Rejects with `not-found` for a body that does not exist for the client. Rejects with `conflict` when the body was released.
 */
export async function dismissBody(
  { quarantine, view, ledger }: Pick<ReleaseParts, 'quarantine' | 'view' | 'ledger'>,
  id: string,
  { scope, ...audit }: { readonly actor: string; readonly reason: string; readonly scope: SourceScope },
): Promise<Settlement> {
  const { line = null, release = null, settlement = null } = (await bodyOf(view, id)) ?? {};
  const body = line ?? (await quarantine.request(id));
  if (body === null || !isInScope(scope, body.source)) throw unknownBody();
  if (release !== null) throw new Problem('conflict', 'The body was released: there is nothing to dismiss.');
  if (settlement !== null) return settlementOf(settlement);
  const { jobId, source, region } = body;
  const act = { deliveryId: newDeliveryId(), outcome: 'dismissed', jobId, source, region, body: id };
  const dismissal = operatorLine(audit, act);
  await ledger.append(dismissal);
  return settlementOf(dismissal);
}

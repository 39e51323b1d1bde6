import { z } from 'zod';
import { Problem } from '../../../../domain/problem.js';
import { RECOVERY_NOT_CONFIGURED } from '../../../../domain/recovery-run.js';
import type { SourceScope } from '../../../../domain/rights.js';
import { newDeliveryId, operatorLine } from '../../../../ledger/ledger-line.js';
import { reconcileStateSchema } from '../../../answers/reconcile.js';
import type { AdminServices } from '../../admin-services.js';
import { type AdminRoute, accepted, adminRoute, ok } from '../admin-route.js';
import { reason } from '../request-schemas.js';

const orderBody = z
  .strictObject({
    full: z
      .boolean()
      .default(false)
      .describe('look back as far as the service keeps results, wherever earlier runs ended'),
    reason,
  })
  .meta({ id: 'ReconcileOrder' });

export function reconcileRoutes({ reconciling, service, ledger, self }: AdminServices): AdminRoute[] {
  const state = () => ({ replica: self.replica, ...reconciling.state() });
  return [
    adminRoute({
      method: 'GET',
      path: '/reconcile',
      right: 'view',
      tag: 'Jobs',
      summary: 'The current run of reconcile in this replica, and its last one',
      answers: { 200: reconcileStateSchema },
      problems: ['scope-exceeded'],
      async handle({ access: { scope } }) {
        requireAllSources(scope);
        return ok(state());
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/reconcile',
      right: 'repair',
      tag: 'Jobs',
      summary: 'Start a run of reconcile in this replica',
      body: orderBody,
      answers: { 202: reconcileStateSchema },
      problems: ['scope-exceeded', 'conflict'],
      async handle({ body: { full, reason = null }, actor, access: { scope } }) {
        requireAllSources(scope);
        if (!service.configured) throw new Problem('conflict', RECOVERY_NOT_CONFIGURED);
        const act = { deliveryId: newDeliveryId(), outcome: 'reconcile-started', jobId: null };
        const begun = await reconciling.start({ actor, full }, () =>
          ledger.append(operatorLine({ actor, reason }, act)),
        );
        if (!begun)
          throw new Problem('conflict', 'A run of reconcile is under way in this replica: wait for its end.');
        return accepted(state());
      },
    }),
  ];
}

/** A run compares the jobs of all sources. */
function requireAllSources(scope: SourceScope): void {
  if (scope === null) return;
  throw new Problem(
    'scope-exceeded',
    'A run of reconcile covers all sources, and this token may see some only.',
  );
}

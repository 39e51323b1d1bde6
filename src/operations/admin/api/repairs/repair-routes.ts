import { z } from 'zod';
import { Problem } from '../../../../domain/problem.js';
import { isInScope, onlySource, type SourceScope } from '../../../../domain/rights.js';
import { newDeliveryId, operatorLine } from '../../../../ledger/ledger-line.js';
import { reasonText, textInput } from '../../../../lib/text/read-input.js';
import { refetchJob } from '../../../../recovery/reconcile/fetch/refetch.js';
import type { RecoveredJob } from '../../../../recovery/reconcile/report/recovery-report.js';
import { acknowledgeJob } from '../../../actions/acknowledge-job.js';
import { chooseArtefact } from '../../../actions/choose-artefact.js';
import { dismissBody } from '../../../actions/dismiss-body.js';
import { eraseJob } from '../../../actions/erase/erase-job.js';
import { placesOfJob } from '../../../actions/erase/jobs-to-erase.js';
import { releaseBody } from '../../../actions/release-body.js';
import { ledgerLineSchema } from '../../../answers/deliveries.js';
import { erasedSchema, refetchedSchema, takenSchema } from '../../../answers/jobs.js';
import { settlementSchema } from '../../../answers/quarantine.js';
import type { AdminServices } from '../../admin-services.js';
import { jobExtent } from '../../jobs/job-extent.js';
import { type AdminRoute, adminRoute, ok } from '../admin-route.js';
import { quarantinedRequest } from '../quarantine-routes.js';
import { JOB, REASON_QUERY, reason, reasonBody } from '../request-schemas.js';

const needed = (why: string) =>
  reasonText.unwrap().min(1).describe(`required, so that it stays known ${why}`);
const dismissBodySchema = z
  .strictObject({ reason: needed('why it need not be released') })
  .meta({ id: 'Dismiss' });
const acknowledgeBody = z
  .strictObject({ reason: needed('why a loss was accepted') })
  .meta({ id: 'Acknowledge' });
const chooseBody = z
  .strictObject({
    key: z.string().describe('of the version that is to count: the artefact itself, or one of its conflicts'),
    reason: needed('why it counts'),
  })
  .meta({ id: 'Choose' });
const refetchBody = z
  .strictObject({
    region: textInput.optional().describe('the only one to ask'),
    source: textInput.optional().describe('whose key prefix the artefacts get'),
    reason,
  })
  .meta({ id: 'RefetchOrder' });

export function repairRoutes(services: AdminServices): AdminRoute[] {
  return [
    adminRoute({
      method: 'POST',
      path: '/jobs/:id/refetch',
      right: 'repair',
      tag: 'Jobs',
      summary: 'Fetch the missing results of a job from the service',
      params: JOB,
      body: refetchBody,
      answers: { 200: refetchedSchema },
      problems: ['not-found', 'conflict', 'service-unreachable'],
      async handle({
        params: { id: jobId },
        body: { region, source, reason = null },
        actor,
        access: { scope },
      }) {
        await rejectUnknownNames(services, { region, source }, scope);
        const receivedAt = new Date().toISOString();
        const result = await refetchJob(services.recovery, jobId, { actor, reason, region, source, scope });
        await refuseUnknown(services, result, scope);
        await services.ledger.append(
          operatorLine(
            { actor, reason },
            {
              deliveryId: newDeliveryId(),
              outcome: 'replayed',
              jobId,
              receivedAt,
              source: source ?? onlySource(scope),
              region: result.region,
            },
          ),
        );
        return ok(result);
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/quarantine/:id/release',
      right: 'repair',
      tag: 'Quarantine',
      summary: 'Decode a body again with the current program and configuration, and archive it',
      body: reasonBody,
      answers: { 200: takenSchema },
      problems: ['not-found', 'conflict'],
      async handle({ params: { id = '' }, body: { reason = null }, actor, access: { scope } }) {
        if (scope !== null) await quarantinedRequest(services.quarantine, id, scope);
        await services.fresh();
        return ok(await releaseBody(services.release, id, { actor, reason }));
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/quarantine/:id/dismiss',
      right: 'repair',
      tag: 'Quarantine',
      summary: 'Settle a body that need not be released; it stays',
      body: dismissBodySchema,
      answers: { 200: settlementSchema },
      problems: ['not-found', 'conflict'],
      async handle({ params: { id = '' }, body: { reason }, actor, access: { scope } }) {
        await services.fresh();
        return ok(await dismissBody(services, id, { actor, reason, scope }));
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/jobs/:id/acknowledge',
      right: 'repair',
      tag: 'Jobs',
      summary: 'Settle a conflict, a loss or quarantined bodies that an operator has reviewed',
      params: JOB,
      body: acknowledgeBody,
      answers: { 200: ledgerLineSchema },
      problems: ['not-found', 'scope-exceeded'],
      async handle({ params: { id: jobId }, body: { reason }, actor, access: { scope } }) {
        await requireWholeJob(services, jobId, scope);
        return ok(await acknowledgeJob(services.ledger, jobId, { actor, reason, scope }));
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/jobs/:id/choose',
      right: 'repair',
      tag: 'Jobs',
      summary: 'Choose which version of an artefact counts; the others stay among the conflicts',
      params: JOB,
      body: chooseBody,
      answers: { 200: ledgerLineSchema },
      problems: ['not-found', 'conflict'],
      async handle({ params: { id: jobId }, body: { key, reason }, actor, access: { scope } }) {
        return ok(await chooseArtefact(services, jobId, { key, actor, reason, scope }));
      },
    }),
    adminRoute({
      method: 'DELETE',
      path: '/jobs/:id',
      right: 'erase',
      tag: 'Jobs',
      summary: 'Erase everything that is stored of a job, old versions included',
      params: JOB,
      query: REASON_QUERY,
      body: reasonBody,
      answers: { 200: erasedSchema },
      problems: ['not-found', 'scope-exceeded'],
      async handle({ params: { id: jobId }, query, body, actor, access: { scope } }) {
        const reason = body.reason ?? query.reason ?? null;
        await requireWholeJob(services, jobId, scope);
        await services.fresh();
        const { keyPrefixes, sources } = await placesOfJob(services, jobId);
        return ok(await eraseJob({ ...services, keyPrefixes }, jobId, { actor, reason }, sources));
      },
    }),
  ];
}

/**
 * Throws `not-found` for a job that the client may not see, and `scope-exceeded` for one that also belongs to other sources, which an
 * erasure or a settlement would affect.
 */
async function requireWholeJob(services: AdminServices, jobId: string, scope: SourceScope): Promise<void> {
  const extent = await jobExtent(services, jobId, scope);
  if (extent === 'none') throw new Problem('not-found', 'This job is not known here.');
  if (extent === 'all') return;
  throw new Problem(
    'scope-exceeded',
    'The job also has results of sources that this token may not see, or too many deliveries to rule that out.',
  );
}

function rejectUnknownNames(
  services: AdminServices,
  names: { region: string | undefined; source: string | undefined },
  scope: SourceScope,
) {
  const { region, source } = names;
  if (source !== undefined && !(services.sources.has(source) && isInScope(scope, source))) {
    throw new Problem('request-invalid', 'source is not a configured source.');
  }
  if (region !== undefined && !services.records.regions.includes(region)) {
    throw new Problem('request-invalid', 'region is not one whose address is configured.');
  }
}

/** Throws when neither this receiver nor the speech service knows the job, or the service could not be reached. */
async function refuseUnknown(
  services: AdminServices,
  result: RecoveredJob,
  scope: SourceScope,
): Promise<void> {
  if (result.region !== null) return;
  if (result.outcome === 'failed') {
    throw new Problem('service-unreachable', `The speech service did not answer: ${result.reason}.`);
  }
  if (result.outcome === 'unrecoverable' && (await jobExtent(services, result.jobId, scope)) === 'none') {
    throw new Problem('not-found', 'Neither this receiver nor the speech service knows this job.');
  }
}

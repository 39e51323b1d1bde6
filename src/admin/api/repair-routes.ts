import { z } from 'zod';
import type { Ledger } from '../../archive/ledger/ledger.js';
import { newDeliveryId, operatorLine } from '../../archive/ledger/ledger-line.js';
import { Problem } from '../../domain/problem.js';
import type { RecoveredJob } from '../../recovery/recovery-report.js';
import { type EraseParts, eraseJob } from '../../repair/erase-job.js';
import { type ReleaseParts, releaseBody } from '../../repair/release-body.js';
import type { Repairs } from '../../repair/repairs.js';
import { readBody, readQuery, reasonText, text } from '../../text/read-input.js';
import { type InspectParts, isKnownHere } from '../jobs/inspect-job.js';
import { type AdminRoute, ok } from './admin-route.js';
import { jobIdOf } from './jobs-routes.js';

export interface RepairRouteParts extends EraseParts, InspectParts {
  readonly ledger: Pick<Ledger, 'append'>;
  readonly release: ReleaseParts;
  readonly refetchJob: Repairs['refetchJob'];
  readonly sources: ReadonlyMap<string, unknown>;
  readonly records: { readonly regions: readonly string[] } & InspectParts['records'];
}

const REASON_BODY = z.strictObject({ reason: reasonText });
const REASON_QUERY = z.strictObject({ reason: reasonText });
/** Without a reason nobody could tell later why a loss was accepted. */
const ACKNOWLEDGE_BODY = z.strictObject({ reason: reasonText.unwrap().min(1) });
const REFETCH_BODY = z.strictObject({
  region: text.optional(),
  source: text.optional(),
  reason: reasonText,
});

export function repairRoutes(parts: RepairRouteParts): AdminRoute[] {
  return [
    {
      method: 'POST',
      path: '/jobs/:id/refetch',
      takes: 'json',
      async handle({ params, body, actor }) {
        const jobId = jobIdOf(params);
        const { region, source, reason = null } = readBody(REFETCH_BODY, body);
        checkNames(parts, { region, source });
        const receivedAt = new Date().toISOString();
        const result = await parts.refetchJob(jobId, { actor, reason, region, source });
        await refuseUnknown(parts, result);
        await parts.ledger.append(
          operatorLine(
            { actor, reason },
            { deliveryId: newDeliveryId(), outcome: 'replayed', jobId, receivedAt, region: result.region },
          ),
        );
        return ok(result);
      },
    },
    {
      method: 'POST',
      path: '/quarantine/:id/release',
      takes: 'json',
      async handle({ params: { id = '' }, body, actor }) {
        const { reason = null } = readBody(REASON_BODY, body);
        return ok(await releaseBody(parts.release, id, { actor, reason }));
      },
    },
    {
      method: 'POST',
      path: '/jobs/:id/acknowledge',
      takes: 'json',
      async handle({ params, body, actor }) {
        const jobId = jobIdOf(params);
        const { reason } = readBody(ACKNOWLEDGE_BODY, body);
        if (!(await isKnownHere(parts, jobId)))
          throw new Problem('not-found', 'Nothing is known here of this job.');
        const line = operatorLine(
          { actor, reason },
          { deliveryId: newDeliveryId(), outcome: 'acknowledged', jobId },
        );
        await parts.ledger.append(line);
        return ok(line);
      },
    },
    {
      method: 'DELETE',
      path: '/jobs/:id',
      takes: 'json',
      async handle({ params, query, body, actor }) {
        const jobId = jobIdOf(params);
        // Some clients cannot send a body with DELETE.
        const asked = readQuery(REASON_QUERY, query).reason;
        const { reason = asked ?? null } = readBody(REASON_BODY, body);
        if (!(await isKnownHere(parts, jobId)))
          throw new Problem('not-found', 'Nothing is known here of this job.');
        return ok(await eraseJob(parts, jobId, { actor, reason }));
      },
    },
  ];
}

function checkNames(
  parts: RepairRouteParts,
  names: { region: string | undefined; source: string | undefined },
) {
  const { region, source } = names;
  if (source !== undefined && !parts.sources.has(source)) {
    throw new Problem('request-invalid', 'source is not a configured source.');
  }
  if (region !== undefined && !parts.records.regions.includes(region)) {
    throw new Problem('request-invalid', 'region is not one whose address is configured.');
  }
}

/** Nobody knows the job, here or there; or nobody there could be asked. */
async function refuseUnknown(parts: RepairRouteParts, result: RecoveredJob): Promise<void> {
  if (result.region !== null) return;
  if (result.outcome === 'failed') {
    throw new Problem('service-unreachable', `The speech service could not be asked: ${result.reason}.`);
  }
  if (result.outcome === 'unrecoverable' && !(await isKnownHere(parts, result.jobId))) {
    throw new Problem('not-found', 'Neither this receiver nor the speech service knows this job.');
  }
}

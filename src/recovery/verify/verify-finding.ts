import { isStandIn } from '../../domain/kinds.js';
import type { RecoverySources } from '../reconcile/expectation.js';
import type { ArtefactClaim } from './artefact-claims.js';
import type { CheckResult, DamageReason, FoundObject } from './check-artefact.js';

/** An artefact that is not as the ledger says. */
export interface VerifyFinding extends Omit<ArtefactClaim, 'origin' | 'size' | 'sha256'> {
  readonly reason: 'missing' | DamageReason;
  readonly expected: { readonly size: number; readonly sha256: string | null };
  /** Null when there is no object. */
  readonly found: FoundObject | null;
  /** ISO 8601; until when the service keeps the job's results, at the latest. Null when it cannot have this artefact. */
  readonly keptUntil: string | null;
}

/** @param retention milliseconds that the service keeps results */
export function findingOf(
  claim: ArtefactClaim,
  result: Exclude<CheckResult, { state: 'intact' }>,
  retention: number,
): VerifyFinding {
  const { origin, size, sha256, ...rest } = claim;
  const keptUntil = new Date(Date.parse(claim.receivedAt) + retention).toISOString();
  const isMissing = result.state === 'missing';
  return {
    ...rest,
    reason: isMissing ? 'missing' : result.reason,
    expected: { size, sha256 },
    found: isMissing ? null : result.found,
    keptUntil: isRefetchable(claim, isMissing) ? keptUntil : null,
  };
}

/**
 * The service offers the results of its jobs: no attachments, no imports, no live sessions, no differing copies. A
 * quarantined body is whatever arrived under the job's id. The job record takes the place of a `jobinfo` only where that is missing.
 */
function isRefetchable({ jobId, origin, kind, key }: ArtefactClaim, isMissing: boolean): boolean {
  if (jobId === null || origin === 'import' || origin === 'realtime') return false;
  if (kind === 'attachment' || kind === 'quarantine' || key.includes('/conflicts/')) return false;
  return isMissing || !isStandIn(kind);
}

/**
 * The command that fetches it while the service has it; null without one. A damaged artefact is fetched again and kept as a
 * conflict beside it, because nothing is overwritten.
 *
 * @param now milliseconds since the epoch
 */
export function refetchCommand(
  { jobId, source, reason, keptUntil }: VerifyFinding,
  sources: RecoverySources,
  now: number,
): string | null {
  if (jobId === null || keptUntil === null || Date.parse(keptUntil) <= now) return null;
  const isNeeded = source !== null && Object.hasOwn(sources, source) && Object.keys(sources).length > 1;
  const options = `${isNeeded ? ` --source ${source}` : ''}${reason === 'missing' ? '' : ' --again'}`;
  return `transcript-receiver refetch ${jobId}${options}`;
}

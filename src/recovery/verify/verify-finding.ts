import { isStandIn } from '../../domain/kinds.js';
import type { RecoverySources } from '../reconcile/expectation.js';
import type { ArtefactClaim } from './artefact-claims.js';
import type { CheckResult, DamageReason, FoundObject } from './check-artefact.js';

/** An artefact that is missing or differs from the ledger. */
export interface VerifyFinding extends Omit<ArtefactClaim, 'origin' | 'size' | 'sha256'> {
  readonly reason: 'missing' | DamageReason;
  readonly expected: { readonly size: number; readonly sha256: string | null };
  /** Null when there is no object. */
  readonly found: FoundObject | null;
  /** ISO 8601: the latest time until which the service keeps the job's results. Null when it cannot have this artefact. */
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
 * Whether the service may have the artefact. It has the results of its jobs, but no attachments, imports, realtime sessions, conflicts or
 * quarantined bodies. The job record replaces a `jobinfo` only if that is missing.
 */
function isRefetchable({ jobId, origin, kind, key }: ArtefactClaim, isMissing: boolean): boolean {
  if (jobId === null || origin === 'import' || origin === 'realtime') return false;
  if (kind === 'attachment' || kind === 'quarantine' || key.includes('/conflicts/')) return false;
  return isMissing || !isStandIn(kind);
}

/** Jobs of one command: a longer line is hard to copy. */
const MAX_JOBS = 1_000;

/**
 * The commands that fetch what the service still has. Missing artefacts are fetched by one replay for many jobs of a source, whose
 * `--since` covers their lines. A damaged artefact is fetched singly and kept as a conflict beside it, because nothing is overwritten.
 *
 * @param now milliseconds since the epoch
 */
export function refetchCommands(
  findings: readonly VerifyFinding[],
  sources: RecoverySources,
  now: number,
): string[] {
  const kept = findings.filter(({ keptUntil }) => keptUntil !== null && Date.parse(keptUntil) > now);
  const bySource = Map.groupBy(kept, ({ source }) =>
    source !== null && Object.hasOwn(sources, source) && Object.keys(sources).length > 1
      ? ` --source ${source}`
      : '',
  );
  return [...bySource].flatMap(([option, found]) => {
    const missing = found.filter(({ reason }) => reason === 'missing');
    const damaged = found.filter(({ reason }) => reason !== 'missing');
    return [
      ...commandsForMissing(missing, option),
      ...jobsOf(damaged).map((job) => `transcript-receiver refetch ${job}${option} --again`),
    ];
  });
}

/** @param source option of the commands; empty for none */
function commandsForMissing(missing: readonly VerifyFinding[], source: string): string[] {
  const jobs = jobsOf(missing);
  const since = missing.map(({ receivedAt }) => receivedAt).sort()[0];
  const options = source && `${source} --since ${since}`;
  const commands: string[] = [];
  for (let from = 0; from < jobs.length; from += MAX_JOBS) {
    const [job, ...others] = jobs.slice(from, from + MAX_JOBS);
    const named = [job, ...others].map((each) => ` --job ${each}`).join('');
    const replay = `transcript-receiver replay refetch${options}${named} --reason "lost from the store"`;
    commands.push(others.length === 0 ? `transcript-receiver refetch ${job}${source}` : replay);
  }
  return commands;
}

function jobsOf(findings: readonly VerifyFinding[]): string[] {
  return [...new Set(findings.flatMap(({ jobId }) => jobId ?? []))];
}

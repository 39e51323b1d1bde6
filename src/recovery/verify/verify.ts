import { artefactOfVersion, findConflict } from '../../archive/erasure/artefact-versions.js';
import { verifyReportKey } from '../../archive/layout.js';
import { REPLACED } from '../../domain/artefact-metadata.js';
import type { LedgerLine } from '../../domain/delivery.js';
import { RETENTION_CLASSES } from '../../domain/kinds.js';
import { readAhead } from '../../ledger/read-ahead.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { createOutageCheck } from '../../store/outage-check.js';
import type { RecoverySources } from '../reconcile/expectation.js';
import { failureReason, INTERRUPTED } from '../reconcile/recovery-errors.js';
import { createReport } from '../reconcile/report/create-report.js';
import type { ExpiredBefore, RetentionView } from '../retention/retention-view.js';
import { type ArtefactClaim, claimsOf, objectKindOf } from './artefact-claims.js';
import { type CheckOptions, type CheckResult, checkArtefact } from './check-artefact.js';
import { createClaimMemory } from './claim-memory.js';
import { createJobSettlements, type JobSettlements } from './job-settlements.js';
import { findingOf, refetchCommands } from './verify-finding.js';
import { buildVerifyReport, type VerifyReport, type VerifyReportBuilder } from './verify-report.js';
import { walkLedger } from './walk-ledger.js';

interface VerifyParts {
  readonly store: ObjectStore;
  readonly sources: RecoverySources;
  /** Milliseconds that the service keeps results. */
  readonly retention: number;
  /** Times before which artefacts have expired. */
  readonly retained: RetentionView;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

export interface VerifyOptions {
  /** Version of the product, for the report. */
  readonly version: string;
  readonly since: Date;
  /** Default: the start of the run. */
  readonly until?: Date | undefined;
  /** Also read and hash the bytes. Default false. */
  readonly deep?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called after every artefact, and with `deep` for every chunk of one. */
  readonly onProgress?: (progress: VerifyProgress) => void;
}

interface VerifyProgress {
  readonly checked: number;
  /** With `deep` those that were read, otherwise the size of the intact artefacts. */
  readonly bytes: number;
}

interface Run {
  readonly parts: VerifyParts;
  readonly expiredBefore: ExpiredBefore;
  readonly signal: AbortSignal | undefined;
  readonly checking: CheckOptions;
  readonly settlements: JobSettlements;
  readonly report: VerifyReportBuilder;
}

/** A HEAD takes tens of milliseconds and no memory; a body is hashed at the speed of one core. */
const HEADS_AT_ONCE = 64;
const READS_AT_ONCE = 8;

/** Failures in a row after which the run checks whether the store answers at all. */
const MAX_FAILURES = 1000;

/**
 * Walks the ledger and checks every artefact that its lines record: existence, size, and the hash if the store has one; with `deep` its
 * bytes. Each artefact is checked once, however many lines record it.
 *
 * Writes nothing but the report. Failures of the store become part of it, and the run continues; when `signal` interrupts the run, the
 * report holds the results so far.
 */
export async function verify(parts: VerifyParts, options: VerifyOptions): Promise<VerifyReport> {
  const { signal, deep = false, onProgress } = options;
  const startedAt = parts.clock();
  const until = options.until ?? new Date(startedAt);
  const window = { since: options.since.toISOString(), until: until.toISOString() };
  const { expiredBefore, fault } = await expiredBeforeOf(parts);
  const report = buildVerifyReport({
    startedAt: new Date(startedAt).toISOString(),
    version: options.version,
    store: parts.store.location,
    window,
    deep,
    expiredBefore: timesOf(expiredBefore),
  });
  if (fault !== null) report.fault(null, fault);
  const settlements = createJobSettlements(parts.store);
  let read = 0;
  const showProgress = () => onProgress?.({ checked: report.checked, bytes: deep ? read : report.bytes });
  const checking: CheckOptions = {
    deep,
    signal,
    onRead(bytes) {
      read += bytes;
      showProgress();
    },
  };
  const run: Run = { parts, expiredBefore, signal, checking, settlements, report };

  const walk = { store: parts.store, window, deep, expiredBefore: expiredBefore('ledger'), report };
  const claims = claimsToCheck(run, walkLedger(walk));
  const outage = createOutageCheck(MAX_FAILURES, () => parts.store.identity());
  const concurrency = deep ? READS_AT_ONCE : HEADS_AT_ONCE;
  for await (const found of readAhead(claims, concurrency, (each) => check(run, each))) {
    found.record();
    showProgress();
    if (found.isKnown) outage.succeeded();
    else if (await outage.failed()) {
      report.fault(null, `the run ended after ${MAX_FAILURES} failures of the store in a row`);
      break;
    }
  }
  if (signal?.aborted) report.fault(null, INTERRUPTED);
  const finishedAt = new Date(parts.clock()).toISOString();
  const finished = report.finish(finishedAt, settlements, (findings) =>
    refetchCommands(findings, parts.sources, startedAt),
  );
  return store(parts.store, finished);
}

interface ClaimToCheck {
  readonly claim: ArtefactClaim;
  /** An earlier line claims other content for the same key. */
  readonly isContradicted: boolean;
}

/** Notes settlements of all lines, and yields the claim of each artefact once for each content. */
async function* claimsToCheck(
  { signal, settlements, report }: Run,
  lines: AsyncIterable<LedgerLine>,
): AsyncGenerator<ClaimToCheck> {
  const memory = createClaimMemory();
  for await (const line of lines) {
    if (signal?.aborted) return;
    settlements.note(line);
    const { claims, unusable } = claimsOf(line);
    report.ledger.unusable += unusable;
    for (const claim of claims) {
      const content = `${claim.size} ${claim.sha256}`;
      const known = memory.add(claim.key, content);
      if (known === 'new') yield { claim, isContradicted: false };
      if (known !== 'different') continue;
      if (line.outcome === 'recovered') settlements.noteFetched(claim, line);
      if (memory.add(`${claim.key} ${content}`, '') === 'new') yield { claim, isContradicted: true };
    }
  }
}

/** Result for one artefact. `record` adds it to the report, in the order of the ledger. */
interface Found {
  /** The store gave an answer. */
  readonly isKnown: boolean;
  readonly record: () => void;
}

async function check(run: Run, { claim, isContradicted }: ClaimToCheck): Promise<Found> {
  const { report, parts, checking } = run;
  try {
    const checked = await checkArtefact(parts.store, claim, checking);
    const result = isContradicted ? await checkContradicted(run, claim, checked) : checked;
    if (result.state === 'intact') {
      return { isKnown: true, record: () => report.intact(result.compared, result.found.size) };
    }
    if (result.state === 'damaged' && (await isReplaced(parts.store, claim)))
      return { isKnown: true, record: () => report.replaced(claim) };
    const removed = await removalOf(run, claim, result);
    if (removed !== null) return { isKnown: true, record: () => report.count(removed) };
    return { isKnown: true, record: () => report.finding(findingOf(claim, result, parts.retention)) };
  } catch (error) {
    // Interrupted while its bytes were read: `verify` adds the fault.
    if (run.signal?.aborted) return { isKnown: true, record: () => report.count('unchecked') };
    if (!(error instanceof StoreError)) throw error;
    return {
      isKnown: false,
      record: () => {
        report.count('unchecked');
        report.fault(claim.key, failureReason(error));
      },
    };
  }
}

/** An object compared only by its size fits both claims, but one of them is wrong unless the job was erased in between. */
async function checkContradicted(
  { settlements }: Run,
  { jobId }: ArtefactClaim,
  result: CheckResult,
): Promise<CheckResult> {
  if (result.state !== 'intact' || result.compared !== 'size') return result;
  if (jobId !== null && (await settlements.isErasedSince(jobId, ''))) return result;
  return { state: 'damaged', reason: 'claims', found: result.found };
}

/** Whether an operator chose another version, and the bytes of the claim are kept among the conflicts. */
async function isReplaced(objects: ObjectStore, { key, size, sha256 }: ArtefactClaim): Promise<boolean> {
  const place = artefactOfVersion(key);
  if (sha256 === null || place === null || key !== place.folder + place.path) return false;
  const { metadata = {} } = (await objects.head(key)) ?? {};
  // The bytes of the version that counts must be at the artefact's key.
  if (metadata[REPLACED] === undefined || metadata.sha256 === sha256) return false;
  return (await findConflict(objects, place, { size, sha256 })) !== null;
}

/** Whether an artefact was erased or has expired; null for neither. */
async function removalOf(
  { expiredBefore, settlements }: Run,
  { kind, jobId, receivedAt }: ArtefactClaim,
  result: CheckResult,
): Promise<'expired' | 'erased' | null> {
  if (jobId !== null && (await settlements.isErasedSince(jobId, receivedAt))) return 'erased';
  const { state } = result;
  // The sweep removes the request.json of a quarantined body first.
  const isGone = state === 'missing' || (state === 'damaged' && result.reason === 'request');
  return isGone && Date.parse(receivedAt) < expiredBefore(objectKindOf(kind)) ? 'expired' : null;
}

/** If the store does not answer, nothing counts as expired, and the report has a fault. */
async function expiredBeforeOf({
  retained,
}: VerifyParts): Promise<{ expiredBefore: ExpiredBefore; fault: string | null }> {
  try {
    return { expiredBefore: await retained.expiredBefore(), fault: null };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const fault = `which artefacts expired is not known: ${failureReason(error)}`;
    return { expiredBefore: () => Number.NEGATIVE_INFINITY, fault };
  }
}

function timesOf(expiredBefore: ExpiredBefore): Record<string, string> {
  const times = RETENTION_CLASSES.map((kind) => [kind, expiredBefore(kind)] as const);
  return Object.fromEntries(
    times.flatMap(([kind, time]) => (Number.isFinite(time) ? [[kind, new Date(time).toISOString()]] : [])),
  );
}

async function store(objects: ObjectStore, report: VerifyReport): Promise<VerifyReport> {
  try {
    await createReport(objects, verifyReportKey, report);
    return report;
  } catch (error) {
    const fault = { key: null, reason: `the report was not stored: ${failureReason(error)}` };
    return { ...report, complete: false, faults: [...report.faults, fault] };
  }
}

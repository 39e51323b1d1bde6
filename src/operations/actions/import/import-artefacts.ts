import type { Archive, StagedDelivery } from '../../../archive/archive.js';
import { readErasure } from '../../../archive/erasure/erasure.js';
import { outcomeOf } from '../../../domain/delivery.js';
import { Problem } from '../../../domain/problem.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import { newDeliveryId, operatorLine } from '../../../ledger/ledger-line.js';
import type { Ledger } from '../../../ledger/write/ledger.js';
import type { SourceContent } from '../../../receive/access/sources.js';
import { isErasedInLedger } from '../../../recovery/reconcile/was-erased.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { Taken } from '../../answers/jobs.js';
import { createFileSink, type FileSink } from './import-files.js';
import { type ImportTarget, importTarget, readImportFields, rejectLateFields } from './import-target.js';

export interface ImportParts {
  readonly store: ObjectStore;
  readonly archive: Archive;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly view: Pick<LedgerView, 'hasErased' | 'reachBack'>;
  readonly sources: ReadonlyMap<string, SourceContent>;
}

/** A form that is being read. Its parser passes the files to `sink`, and `fields` returns the text fields. */
export interface ImportForm {
  /** Bytes of the whole form by its `content-length`; null without one. */
  readonly expectedBytes: number | null;
  /** Text fields read so far. */
  fields(): Record<string, string>;
  /** Reads the form to its end. Rejects with the error of `sink`, or with `Problem`. */
  read(sink: FileSink): Promise<void>;
  /** Aborts the reading. */
  fail(error: Error): void;
}

export interface ImportRequest {
  readonly jobId: string;
  readonly actor: string;
  readonly clientIp: string | null;
}

const LEDGER_SEARCHED = 30 * 86_400_000;
/** Milliseconds that an import waits for the first byte of memory, as callbacks do. */
const MEMORY_WAIT = 10_000;

/**
 * Stores the files of a form. Nothing becomes visible before the whole form was read; then first write wins, as for callbacks. Settles the
 * quarantined bodies that the job has from the source. Rejects with `conflict` for an erased job.
 */
export async function importArtefacts(
  parts: ImportParts,
  form: ImportForm,
  request: ImportRequest,
): Promise<Taken> {
  const started = performance.now();
  const act = { deliveryId: newDeliveryId(), receivedAt: new Date().toISOString(), jobId: request.jobId };
  await rejectErased(parts, request.jobId);
  let begun: { readonly staged: StagedDelivery; readonly target: ImportTarget } | null = null;
  const sink = createFileSink(() => {
    const target = importTarget(parts.sources, readImportFields(form.fields()));
    begun = { target, staged: stage(parts.archive, target, act, form) };
    const jobId = target.otherJob ? null : request.jobId;
    return { staged: begun.staged, maxBytes: target.settings.maxBytes, jobId, kind: target.kind };
  });
  try {
    await form.read(sink);
    const { staged, target } = requireFiles(begun);
    const fields = readImportFields(form.fields());
    rejectLateFields(target, fields);
    const items = await staged.commit();
    if (items === null) throw erasedJob('meanwhile');
    const outcome = outcomeOf(items);
    const { status, source, context } = target;
    const durationMs = Math.round(performance.now() - started);
    const audit = { actor: request.actor, reason: fields.reason ?? null };
    await parts.ledger.append(
      operatorLine(audit, {
        ...act,
        ...contentOf(sink),
        origin: 'import',
        method: 'POST',
        outcome,
        source,
        status,
        context,
        items,
        durationMs,
        clientIp: request.clientIp,
      }),
    );
    return { deliveryId: act.deliveryId, jobId: request.jobId, status, outcome, items };
  } finally {
    await stagedOf(begun)?.discard();
  }
}

/** Rejects an erased job, by its mark or, if the store was restored without marks, by the last month of the ledger. */
async function rejectErased({ store, view }: ImportParts, jobId: string): Promise<void> {
  const mark = await readErasure(store, jobId);
  if (mark !== null) throw erasedJob(`on ${mark.erasedAt.slice(0, 10)}`);
  const since = new Date(Date.now() - LEDGER_SEARCHED).toISOString();
  if (await isErasedInLedger({ store, view }, jobId, since)) throw erasedJob('before');
}

function erasedJob(at: string): Problem {
  return new Problem(
    'conflict',
    `This job was erased ${at}, and an erased job is never stored again: import the files under another job id.`,
  );
}

function stage(
  archive: Archive,
  { source, status, context, settings }: ImportTarget,
  act: { readonly deliveryId: string; readonly receivedAt: string; readonly jobId: string },
  form: ImportForm,
): StagedDelivery {
  const { keyPrefix } = settings;
  const staged = archive.begin(
    { ...act, status, source, region: null, origin: 'import', context, keyPrefix },
    { expectedBytes: form.expectedBytes, firstByteTimeout: MEMORY_WAIT },
  );
  staged.onRefused((problem) => form.fail(problem));
  return staged;
}

/** Null before the first file. */
type Begun = { readonly staged: StagedDelivery; readonly target: ImportTarget } | null;

function requireFiles(begun: Begun): NonNullable<Begun> {
  if (begun === null) throw new Problem('request-invalid', 'The form holds no file.');
  return begun;
}

function stagedOf(begun: Begun): StagedDelivery | undefined {
  return begun?.staged;
}

function contentOf({ files }: FileSink) {
  return {
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    shape: { contentType: 'multipart/form-data', framing: 'chunked' as const, parts: files },
  };
}

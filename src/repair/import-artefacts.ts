import type { Archive, StagedDelivery } from '../archive/archive.js';
import type { Ledger } from '../archive/ledger/ledger.js';
import { newDeliveryId, operatorLine } from '../archive/ledger/ledger-line.js';
import type { DeliveryOutcome } from '../domain/delivery.js';
import { outcomeOf } from '../domain/delivery.js';
import type { StoredItem } from '../domain/item.js';
import { Problem } from '../domain/problem.js';
import { createFileTaker, type FileTaker } from './import-files.js';
import { checkOrder, type ImportPlace, importPlace, readImportFields } from './import-target.js';
import type { ReleasingSource } from './release-body.js';

export interface ImportParts {
  readonly archive: Archive;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly sources: ReadonlyMap<string, ReleasingSource>;
}

/** A form being read; its parser hands the files to `taker` and the text fields to `fields`. */
export interface ImportForm {
  /** Bytes of the whole form as far as its sender says; null when it does not. */
  readonly expectedBytes: number | null;
  /** Text fields read so far. */
  fields(): Record<string, string>;
  /** Reads the form to its end. Rejects with what `taker` rejected with, or `Problem`. */
  read(taker: FileTaker): Promise<void>;
  /** Ends the reading before its time. */
  fail(error: Error): void;
}

export interface ImportOrder {
  readonly jobId: string;
  readonly actor: string;
  readonly clientIp: string | null;
}

/** Answered like a callback. */
export interface ImportAnswer {
  readonly deliveryId: string;
  readonly jobId: string;
  readonly status: string | null;
  readonly outcome: DeliveryOutcome;
  readonly items: readonly StoredItem[];
}

/** Milliseconds that an import waits for the first byte of memory, as callbacks do. */
const MEMORY_WAIT = 10_000;

/** Nothing becomes visible before the form has come whole; then first write wins, as for callbacks. */
export async function importArtefacts(
  parts: ImportParts,
  form: ImportForm,
  order: ImportOrder,
): Promise<ImportAnswer> {
  const started = performance.now();
  const act = { deliveryId: newDeliveryId(), receivedAt: new Date().toISOString(), jobId: order.jobId };
  let begun: { readonly staged: StagedDelivery; readonly place: ImportPlace } | null = null;
  const taker = createFileTaker(() => {
    const place = importPlace(parts.sources, readImportFields(form.fields()));
    begun = { place, staged: stage(parts.archive, place, act, form) };
    return { staged: begun.staged, maxBytes: place.settings.maxBytes, kind: place.kind };
  });
  try {
    await form.read(taker);
    const { staged, place } = requireFiles(begun);
    const fields = readImportFields(form.fields());
    checkOrder(place, fields);
    const items = await staged.commit();
    const outcome = outcomeOf(items);
    const { status, source } = place;
    const durationMs = Math.round(performance.now() - started);
    await parts.ledger.append(
      operatorLine(
        { actor: order.actor, reason: fields.reason ?? null },
        {
          ...act,
          ...contentOf(taker),
          origin: 'import',
          method: 'POST',
          outcome,
          source,
          status,
          items,
          durationMs,
          clientIp: order.clientIp,
        },
      ),
    );
    return { deliveryId: act.deliveryId, jobId: order.jobId, status, outcome, items };
  } finally {
    await stagedOf(begun)?.discard();
  }
}

function stage(
  archive: Archive,
  { source, status, settings }: ImportPlace,
  act: { readonly deliveryId: string; readonly receivedAt: string; readonly jobId: string },
  form: ImportForm,
): StagedDelivery {
  const { keyPrefix } = settings;
  const staged = archive.begin(
    { ...act, status, source, region: null, origin: 'import', keyPrefix },
    { expectedBytes: form.expectedBytes, firstByteTimeout: MEMORY_WAIT },
  );
  staged.onRefused((problem) => form.fail(problem));
  return staged;
}

type Begun = { readonly staged: StagedDelivery; readonly place: ImportPlace } | null;

function requireFiles(begun: Begun): NonNullable<Begun> {
  if (begun === null) throw new Problem('request-invalid', 'The form holds no file.');
  return begun;
}

function stagedOf(begun: Begun): StagedDelivery | undefined {
  return begun?.staged;
}

function contentOf({ taken }: FileTaker) {
  return {
    bytes: taken.reduce((sum, { bytes }) => sum + bytes, 0),
    shape: { contentType: 'multipart/form-data', framing: 'chunked' as const, parts: taken },
  };
}

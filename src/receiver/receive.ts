import type { Archive, StagedDelivery } from '../archive/archive.js';
import type { Ledger } from '../archive/ledger/ledger.js';
import type { Quarantine } from '../archive/quarantine/quarantine.js';
import { UndecodableError } from '../content/decode-error.js';
import type { LedgerLine } from '../domain/delivery.js';
import { Problem } from '../domain/problem.js';
import { atMost } from '../time/at-most.js';
import { type CallbackQuery, parseCallbackQuery } from './access/query.js';
import { checkSender, type Sender, type Source, type Stranger } from './access/sender.js';
import { type Acknowledgement, outcomeOf } from './acknowledge.js';
import { type Arrival, arrive, artefactContext, type LineResult, ledgerLine } from './arrival.js';
import { bodyEncodings, type CallbackRequest, header } from './callback-request.js';
import { decodeBody } from './decode/decode-body.js';
import type { Admission } from './http/admission.js';
import { quarantineBody } from './quarantine-body.js';
import { createRawKeeper, type RawKeeper } from './raw-body-copy.js';
import { asRefusal, recordRefusal } from './refusal.js';

/*
 * The story of a callback: source -> address -> credential -> query -> (body) decode -> archive -> ledger ->
 * acknowledge. Nothing of the body is read before the query is known to be good, and nothing is acknowledged
 * before artefacts and ledger line are durable.
 */

export interface ReceiverParts {
  readonly sources: ReadonlyMap<string, Source>;
  readonly admission: Admission;
  readonly archive: Archive;
  readonly quarantine: Quarantine;
  readonly ledger: Ledger;
  readonly limits: { readonly quarantineBytes: number; readonly maxParts: number };
  readonly observer: ReceiverObserver;
}

/** What the receiver tells the operating side; must not throw. */
export interface ReceiverObserver {
  /** A delivery or an authenticated refusal came to its end; `problem` is set for the latter. */
  delivered(line: LedgerLine, spent: Arrival['spent'], problem: Problem | null): void;
  /** Somebody who did not authenticate was turned away. */
  strangerRefused(stranger: Stranger, request: CallbackRequest): void;
  /** A ledger line about a refusal could not be written; the refusal stands all the same. */
  refusalUnrecorded(line: LedgerLine, error: unknown): void;
}

export interface Receiver {
  /**
   * Takes one callback. Resolves when everything is durable; otherwise rejects with a `Problem` to be told to
   * the sender, or with `BodyAbortedError` when there is nobody left to tell.
   */
  receive(request: CallbackRequest): Promise<Acknowledgement>;
}

export function createReceiver(parts: ReceiverParts): Receiver {
  async function receive(request: CallbackRequest): Promise<Acknowledgement> {
    const arrival = arrive(request, senderOf(request));
    let leave = (): void => {};
    try {
      const query = parseCallbackQuery(request.rawQuery);
      arrival.jobId = query.jobId;
      arrival.status = query.status;
      refuseUndelimited(request);
      refuseDeclaredTooLarge(request, arrival.sender.source);
      leave = parts.admission.enter(request.declaredLength);
      return await takeIn(request, arrival, query);
    } catch (error) {
      const refusal = asRefusal(error);
      await recordRefusal(parts, arrival, refusal);
      throw refusal;
    } finally {
      leave();
    }
  }

  function senderOf(request: CallbackRequest): Sender {
    const caller = checkSender(parts.sources, request);
    if (!('problem' in caller)) return caller;
    parts.observer.strangerRefused(caller, request);
    throw caller.problem;
  }

  async function takeIn(
    request: CallbackRequest,
    arrival: Arrival,
    query: CallbackQuery,
  ): Promise<Acknowledgement> {
    const { declaredLength } = request;
    const staged = parts.archive.begin(artefactContext(arrival, query), {
      expectedBytes: declaredLength,
      patience: MEMORY_WAIT,
    });
    const kept = createRawKeeper(staged.memory, parts.limits.quarantineBytes, declaredLength);
    staged.keepsBeside(kept);
    try {
      const result = await decodeAndArchive(request, arrival, query, staged, kept);
      await record(arrival, result);
      const { outcome, items, reason } = result;
      const answer = {
        deliveryId: arrival.deliveryId,
        jobId: query.jobId,
        status: query.status,
        outcome,
        items,
      };
      return reason === null ? answer : { ...answer, reason };
    } finally {
      kept.release();
      if (!staged.settled) await atMost(CLEAN_UP_WAIT, staged.discard());
    }
  }

  async function decodeAndArchive(
    request: CallbackRequest,
    arrival: Arrival,
    query: CallbackQuery,
    staged: StagedDelivery,
    kept: RawKeeper,
  ): Promise<LineResult & { outcome: Acknowledgement['outcome'] }> {
    try {
      await decode(request, arrival, query, staged, kept);
    } catch (error) {
      if (!(error instanceof UndecodableError)) throw error;
      staged.memory.lease.pace.complete();
      await quarantineBody(parts.quarantine, request, arrival, query, kept, error);
      return { outcome: 'quarantined', reason: error.reason, items: [] };
    }
    kept.release();
    arrival.spent.receive = performance.now() - arrival.startedAt;
    const items = await staged.commit();
    arrival.spent.store = performance.now() - arrival.startedAt - arrival.spent.receive;
    return { outcome: outcomeOf(items), reason: null, items };
  }

  async function decode(
    request: CallbackRequest,
    arrival: Arrival,
    query: CallbackQuery,
    staged: StagedDelivery,
    kept: RawKeeper,
  ): Promise<void> {
    const { source } = arrival.sender;
    const body = request.openBody(source.maxBytes);
    arrival.bytes = () => body.bytes;
    const headers = {
      contentType: header(request, 'content-type'),
      contentEncoding: bodyEncodings(request.headers),
      contentLength: request.declaredLength,
      contents: query.contents.length > 0 ? query.contents : source.contents,
    };
    const limits = { maxBytes: source.maxBytes, maxParts: parts.limits.maxParts };
    // A sender that is gone, or refused, leaves the line for memory at once, and frees what it holds.
    body.onFailure(() => void staged.discard());
    staged.onRefused((problem) => body.fail(problem));
    const decoded = await decodeBody(headers, body, staged, limits, kept.keep).catch((error: unknown) => {
      throw body.failure ?? error;
    });
    if (decoded.parts !== undefined) arrival.shape = { ...arrival.shape, parts: decoded.parts };
  }

  async function record(arrival: Arrival, result: LineResult): Promise<void> {
    const before = performance.now();
    const line = ledgerLine(arrival, result);
    await parts.ledger.append(line);
    arrival.spent.acknowledge = performance.now() - before;
    parts.observer.delivered(line, arrival.spent, null);
  }

  return { receive };
}

/** Milliseconds that a sender waits for the first byte of memory. */
const MEMORY_WAIT = 10_000;

/** Milliseconds that an answer waits for uploads to be aborted; the rest goes on behind it. */
const CLEAN_UP_WAIT = 2000;

/** HTTP/1.1 ends a body without a length or chunks at once, so there is none; HTTP/1.0 demands a length (RFC 1945, 8.3). */
function refuseUndelimited({ isDelimited }: CallbackRequest): void {
  if (isDelimited) return;
  throw new Problem(
    'length-required',
    'An HTTP/1.0 request has to say with Content-Length how long its body is.',
  );
}

function refuseDeclaredTooLarge({ declaredLength }: CallbackRequest, source: Source): void {
  if (declaredLength === null || declaredLength <= source.maxBytes) return;
  throw new Problem('body-too-large', `This source accepts up to ${source.maxBytes} bytes.`);
}

import type { Archive } from '../archive/archive.js';
import {
  BodyTooLargeError,
  EncodingRefusedError,
  UndecodableError,
} from '../archive/content/decode-error.js';
import type { Erasures } from '../archive/erasure/erasures.js';
import type { Quarantine } from '../archive/quarantine/quarantine.js';
import { storeProblem } from '../archive/store-problem.js';
import type { Acknowledgement, LedgerLine } from '../domain/delivery.js';
import { asProblem, Problem } from '../domain/problem.js';
import type { Ledger } from '../ledger/write/ledger.js';
import { BodyAbortedError } from '../lib/http/request-body.js';
import { waitAtMost } from '../lib/time/deadline.js';
import { parseCallbackQuery } from './access/callback-query.js';
import { misdirectedCaller, type Sender, type Source, type UnauthenticatedCaller } from './access/sources.js';
import type { Admission, Slot } from './admission.js';
import type { CallbackRequest } from './callback-request.js';
import { type BodyHeaders, bodyEncodings, decodeBody } from './decode/decode-body.js';
import { Delivery, type PhaseDurations } from './delivery.js';
import { RawBodyCopy } from './raw-body-copy.js';

/*
 * Steps of receiving a callback: source -> address -> credential -> query -> length -> slot -> erased? -> decode -> archive
 * -> ledger -> acknowledge. No byte of the body is read before there is room for it, and nothing is acknowledged before artefacts
 * and ledger line are durable.
 */

interface ReceiverParts {
  readonly sources: ReadonlyMap<string, Source>;
  readonly admission: Admission;
  readonly archive: Archive;
  readonly quarantine: Quarantine;
  readonly erasures: Erasures;
  readonly ledger: Ledger;
  readonly limits: { readonly quarantineBytes: number; readonly lineWithin: number };
  readonly observer: ReceiverObserver;
}

/** Reports deliveries to operators. Its methods must not throw. */
export interface ReceiverObserver {
  delivered(line: LedgerLine, phases: PhaseDurations): void;
  /** An authenticated delivery was refused; `problem` is null when its sender has disconnected. */
  refused(line: LedgerLine, problem: Problem | null): void;
  unauthenticated(caller: UnauthenticatedCaller, request: CallbackRequest): void;
  /** The ledger line of a refusal could not be written; the delivery is refused nevertheless. */
  refusalUnrecorded(line: LedgerLine, error: unknown): void;
}

/** Milliseconds that a sender waits for the first byte of memory. */
const MEMORY_WAIT = 10_000;

/** Milliseconds that a response waits for uploads to be aborted, which continues after it. */
const CLEAN_UP_WAIT = 2000;

export class Receiver {
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #admission: Admission;
  readonly #archive: Archive;
  readonly #quarantine: Quarantine;
  readonly #erasures: Erasures;
  readonly #ledger: Ledger;
  readonly #limits: ReceiverParts['limits'];
  readonly #observer: ReceiverObserver;

  constructor(parts: ReceiverParts) {
    this.#sources = parts.sources;
    this.#admission = parts.admission;
    this.#archive = parts.archive;
    this.#quarantine = parts.quarantine;
    this.#erasures = parts.erasures;
    this.#ledger = parts.ledger;
    this.#limits = parts.limits;
    this.#observer = parts.observer;
  }

  /**
   * Resolves when all content of the callback is durable. Otherwise rejects with a `Problem` to respond with, or with
   * `BodyAbortedError` when the sender has disconnected.
   */
  async receive(request: CallbackRequest): Promise<Acknowledgement> {
    const delivery = new Delivery(request, this.#authenticate(request));
    let slot: Slot | null = null;
    try {
      delivery.identified(parseCallbackQuery(request.rawQuery, delivery.sender.source.context));
      rejectBadLength(delivery);
      slot = await this.#admission.enter(request);
      if (await this.#erasures.has(delivery.query.jobId)) await this.#discardBody(delivery, slot);
      else await this.#store(delivery, slot);
      const line = delivery.ledgerLine();
      await this.#ledger.append(line);
      this.#observer.delivered(line, delivery.phases());
      return delivery.acknowledgement();
    } catch (error) {
      const refusal = asRefusal(error);
      await this.#recordRefusal(delivery, refusal);
      throw refusal;
    } finally {
      slot?.leave();
    }
  }

  /** Reads the body of an erased job without decoding it, because nothing of it is stored. */
  async #discardBody(delivery: Delivery, slot: Slot): Promise<void> {
    slot.body = delivery.openBody();
    for await (const _chunk of slot.body);
    delivery.erased();
  }

  /** Stores the items of a body. A complete body that cannot be decoded goes to quarantine. */
  async #store(delivery: Delivery, slot: Slot): Promise<void> {
    const { request, sender } = delivery;
    const { declaredLength } = request;
    const reception = { expectedBytes: declaredLength, firstByteTimeout: MEMORY_WAIT };
    const context = delivery.artefactContext();
    const staged = this.#archive.begin(context, reception);
    const rawCopy = new RawBodyCopy(staged.memory, this.#limits.quarantineBytes, declaredLength);
    staged.setDiscardable(rawCopy);
    const body = delivery.openBody();
    slot.body = body;
    // A delivery whose sender has disconnected or was refused leaves the queue for memory at once, and releases its own.
    body.onFailure(() => void staged.discard());
    staged.onRefused((problem) => body.fail(problem));
    try {
      const keep = (chunk: Buffer): void => rawCopy.keep(chunk);
      const limits = { maxBytes: sender.source.maxBytes, memory: staged.memory.lease };
      const parts = await decodeBody(bodyHeaders(delivery), body, staged, limits, keep);
      delivery.decoded(parts);
      rawCopy.release();
      const items = await staged.commit(this.#erasures.has);
      if (items === null) delivery.erased();
      else delivery.stored(items);
    } catch (error) {
      if (body.failure !== null) throw body.failure;
      if (!(error instanceof UndecodableError)) throw error;
      delivery.decoded(undefined);
      if (await this.#quarantineBody(delivery, rawCopy, error)) delivery.quarantined(error.reason);
      else delivery.erased();
    } finally {
      rawCopy.release();
      if (!staged.settled) await waitAtMost(CLEAN_UP_WAIT, staged.discard());
    }
  }

  /** Checks source, address and credential, in this order. */
  #authenticate(request: CallbackRequest): Sender {
    const { sourceName, peer, headers } = request;
    const source = this.#sources.get(sourceName);
    if (source === undefined) {
      const problem = new Problem('source-unknown', 'No source of that name is configured here.');
      this.misdirected(request, problem);
      throw problem;
    }
    const access = source.checkAccess({ peer, headers, now: Date.now() });
    const {
      problem,
      clientIp,
      region,
      credential,
      credentialFailure: cause,
      wouldRefuse,
      isFromSender,
    } = access;
    if (problem === null) return { source, clientIp, region, credential, wouldRefuse };
    this.#observer.unauthenticated({ problem, source: source.name, clientIp, cause, isFromSender }, request);
    throw problem;
  }

  /** Records a request with the query of a callback that reaches no source because of its path or method. */
  misdirected(request: CallbackRequest, problem: Problem): void {
    this.#observer.unauthenticated(misdirectedCaller(this.#sources, request, problem), request);
  }

  /** Resolves to false when the job was erased in the meantime. */
  async #quarantineBody(delivery: Delivery, rawCopy: RawBodyCopy, fault: UndecodableError): Promise<boolean> {
    const body = rawCopy.hold();
    if (body === 'no-memory') {
      throw new Problem('overloaded', 'No memory is free to quarantine this body; send it again.');
    }
    if (body === 'over-cap') throw new Problem('body-malformed', `${fault.message} (${fault.reason})`);
    try {
      const record = delivery.quarantineRecord(fault);
      return await this.#erasures.keep(record, () => this.#quarantine.keep(record, body.bytes));
    } finally {
      body.release();
    }
  }

  /**
   * Writes the ledger line of a refusal. The response waits a moment for it when the sender was at fault. For a fault of this side it does
   * not wait, because the store that failed is most likely the one that the line is written to. A shutdown is the exception: the ledger is
   * closed once no delivery is in flight.
   */
  async #recordRefusal(delivery: Delivery, refusal: DeliveryRefusal): Promise<void> {
    const problem = refusal instanceof Problem ? refusal : null;
    const line = delivery.refusalLine(problem?.code ?? 'body-incomplete');
    this.#observer.refused(line, problem);
    const writing = this.#appendRefusal(line).catch((error: unknown) =>
      this.#observer.refusalUnrecorded(line, error),
    );
    const isWaitedFor = problem === null || problem.status < 500 || problem.code === 'draining';
    if (isWaitedFor) await waitAtMost(this.#limits.lineWithin, writing);
  }

  /** A refusal for an erased job is recorded as `noted`, not as a failure, because nothing of it would have been stored. */
  async #appendRefusal(line: LedgerLine): Promise<void> {
    const isErased = line.jobId !== null && (await this.#hasErased(line.jobId));
    await this.#ledger.append(isErased ? { ...line, outcome: 'noted', reason: 'erased' } : line);
  }

  /** False when the store cannot be read. */
  async #hasErased(jobId: string): Promise<boolean> {
    try {
      return await this.#erasures.has(jobId);
    } catch {
      return false;
    }
  }
}

/** HTTP/1.1 without a length or chunks has no body; HTTP/1.0 requires a length (RFC 1945, 8.3). */
function rejectBadLength({ request, sender }: Delivery): void {
  const { maxBytes } = sender.source;
  if (!request.isDelimited) {
    throw new Problem('request-malformed', 'An HTTP/1.0 request needs a Content-Length.');
  }
  if ((request.declaredLength ?? 0) > maxBytes) {
    throw new Problem('body-too-large', `This source accepts up to ${maxBytes} bytes.`);
  }
}

function bodyHeaders({ request: { headers, declaredLength }, contents }: Delivery): BodyHeaders {
  return {
    contentType: headers['content-type']?.[0] ?? null,
    contentEncoding: bodyEncodings(headers),
    contentLength: declaredLength,
    contents,
  };
}

/** Why a delivery was refused: a problem to respond with, or its sender has disconnected. */
type DeliveryRefusal = Problem | BodyAbortedError;

/** Maps an error to its refusal. A store error is 503, so that the sender retries. */
export function asRefusal(error: unknown): DeliveryRefusal {
  if (error instanceof BodyAbortedError) return error;
  if (error instanceof BodyTooLargeError) {
    return new Problem('body-too-large', `This source accepts up to ${error.limit} decoded bytes.`);
  }
  if (error instanceof EncodingRefusedError) return new Problem('encoding-refused', error.message);
  return storeProblem(error) ?? asProblem(error);
}

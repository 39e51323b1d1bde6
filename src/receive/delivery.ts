import type { UndecodableError } from '../archive/content/decode-error.js';
import type { PartShape } from '../archive/content/item-plan.js';
import { recordedType } from '../archive/content/media-type.js';
import type { ArtefactContext } from '../archive/layout.js';
import type { QuarantineRecord } from '../archive/quarantine/quarantine.js';
import {
  type Acknowledgement,
  type DeliveryOutcome,
  type DeliveryShape,
  type LedgerLine,
  type LedgerOutcome,
  outcomeOf,
} from '../domain/delivery.js';
import type { StoredItem } from '../domain/item.js';
import { wantedOf } from '../domain/quarantined-body.js';
import type { ReasonCode } from '../domain/reasons.js';
import { ledgerLine, newDeliveryId } from '../ledger/ledger-line.js';
import type { RequestBody } from '../lib/http/request-body.js';
import { type CallbackQuery, storableQuery } from './access/callback-query.js';
import type { Sender } from './access/sources.js';
import type { CallbackRequest, RequestHeaders } from './callback-request.js';
import { bodyEncodings } from './decode/decode-body.js';

/** Milliseconds spent on receiving and decoding the body, on storing it, and on the ledger. */
export interface PhaseDurations {
  readonly receive: number;
  readonly store: number;
  readonly acknowledge: number;
}

/**
 * An authenticated callback while it is being received: its sender, its content, and the duration of each phase. Creates every record of
 * it, so that archive, quarantine, ledger and sender get the same facts.
 */
export class Delivery {
  readonly request: CallbackRequest;
  readonly sender: Sender;
  readonly id: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly #startedAt = performance.now();
  #decodedAt = this.#startedAt;
  #storedAt = this.#startedAt;
  #query: CallbackQuery | null = null;
  #body: RequestBody | null = null;
  #parts: readonly PartShape[] | undefined;
  #outcome: DeliveryOutcome = 'noted';
  #reason: ReasonCode | null = null;
  #items: readonly StoredItem[] = [];

  constructor(request: CallbackRequest, sender: Sender) {
    const now = Date.now();
    this.request = request;
    this.sender = sender;
    this.id = newDeliveryId(now);
    this.receivedAt = new Date(now).toISOString();
  }

  /** @throws before `identified` */
  get query(): CallbackQuery {
    if (this.#query === null) throw new Error('the delivery is not identified yet');
    return this.#query;
  }

  /** Tokens of the content: those in the query, else those of the source. */
  get contents(): readonly string[] {
    return this.query.contents.length > 0 ? this.query.contents : this.sender.source.contents;
  }

  identified(query: CallbackQuery): void {
    this.#query = query;
  }

  /** Starts reading the body. */
  openBody(): RequestBody {
    this.#body = this.request.openBody(this.sender.source.maxBytes);
    return this.#body;
  }

  /** @param parts of a form */
  decoded(parts: readonly PartShape[] | undefined): void {
    this.#parts = parts;
    this.#decodedAt = performance.now();
  }

  /** Records that the items are durable. */
  stored(items: readonly StoredItem[]): void {
    this.#items = items;
    this.#outcome = outcomeOf(items);
    this.#storedAt = performance.now();
  }

  /** Records that the raw body is durable in quarantine. */
  quarantined(reason: ReasonCode): void {
    this.#reason = reason;
    this.#outcome = 'quarantined';
    this.#storedAt = performance.now();
  }

  /** Records that the job is erased, so nothing of the delivery is stored. */
  erased(): void {
    this.#reason = 'erased';
    this.#outcome = 'noted';
    this.#storedAt = performance.now();
  }

  /** Determines the keys and the metadata of the artefacts. */
  artefactContext(): ArtefactContext {
    const { source, region } = this.sender;
    const { jobId, status, context } = this.query;
    return {
      deliveryId: this.id,
      jobId,
      status,
      source: source.name,
      region,
      origin: 'callback',
      receivedAt: this.receivedAt,
      context,
      keyPrefix: source.keyPrefix,
    };
  }

  quarantineRecord({ reason, message }: UndecodableError): QuarantineRecord {
    const { source, region, clientIp } = this.sender;
    const { jobId, status } = this.query;
    return {
      deliveryId: this.id,
      receivedAt: this.receivedAt,
      source: source.name,
      region,
      clientIp,
      method: this.request.method,
      jobId,
      status,
      query: storableQuery(this.query),
      headers: storableHeaders(this.request.headers, source.credentialHeaders),
      reason,
      detail: message,
    };
  }

  /** The line of a delivery that was accepted. */
  ledgerLine(): LedgerLine {
    return this.#line(this.#outcome, this.#reason, this.#items);
  }

  refusalLine(reason: ReasonCode): LedgerLine {
    return this.#line('refused', reason, []);
  }

  acknowledgement(): Acknowledgement {
    const { jobId, status } = this.query;
    return { deliveryId: this.id, jobId, status, outcome: this.#outcome, items: this.#items };
  }

  /** Call it when the ledger line is durable. */
  phases(): PhaseDurations {
    return {
      receive: this.#decodedAt - this.#startedAt,
      store: this.#storedAt - this.#decodedAt,
      acknowledge: performance.now() - this.#storedAt,
    };
  }

  #line(outcome: LedgerOutcome, reason: ReasonCode | null, items: readonly StoredItem[]): LedgerLine {
    const { source, region, clientIp, credential, wouldRefuse } = this.sender;
    return ledgerLine({
      deliveryId: this.id,
      receivedAt: this.receivedAt,
      origin: 'callback',
      source: source.name,
      region,
      clientIp,
      method: this.request.method,
      jobId: this.#query?.jobId ?? null,
      status: this.#query?.status ?? null,
      credential,
      outcome,
      reason,
      items,
      bytes: this.#body?.bytes ?? 0,
      durationMs: Math.round(performance.now() - this.#startedAt),
      shape: shapeOf(this.request, this.#parts),
      actor: null,
      wouldRefuse,
      context: this.#query?.context ?? null,
      contextOmitted: this.#query?.contextOmitted ?? null,
      expired: null,
      expectedAt: null,
      wanted: outcome === 'quarantined' ? wantedOf(this.query.status, this.contents) : null,
      body: null,
      tooLarge:
        reason === 'body-too-large'
          ? { declared: this.request.declaredLength, limit: source.maxBytes }
          : null,
    });
  }
}

/** Codings that the ledger records by name; any other is recorded as `other`. */
const CODINGS = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'compress', 'x-compress', 'identity']);

/**
 * The wire format of a callback, without free text of the sender, such as a file name in a parameter of the type, because the ledger
 * lines of an erased job stay.
 */
function shapeOf({ headers, declaredLength }: CallbackRequest, parts?: readonly PartShape[]): DeliveryShape {
  const type = headers['content-type']?.[0];
  const contentType = type === undefined ? null : recordedType(type);
  const codings = bodyEncodings(headers)
    ?.split(',', 8)
    .map((coding) => coding.trim().toLowerCase())
    .map((coding) => (CODINGS.has(coding) ? coding : 'other'));
  const contentEncoding = codings?.join(', ');
  const sized = declaredLength === null || declaredLength === 0 ? 'none' : 'sized';
  return {
    contentType,
    framing: headers['transfer-encoding'] === undefined ? sized : 'chunked',
    ...(contentEncoding === undefined ? undefined : { contentEncoding }),
    ...(parts === undefined ? undefined : { parts }),
  };
}

/** Headers that help to diagnose an undecodable body. Any other may contain a secret of the submitter. */
const STORABLE = [
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-transfer-encoding',
  'content-type',
  'date',
  'expect',
  'host',
  'transfer-encoding',
  'user-agent',
];

/** The headers that may be stored: well-known ones that carry no credential. */
function storableHeaders(
  headers: RequestHeaders,
  credentialHeaders: ReadonlySet<string>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of STORABLE) {
    const values = headers[name];
    if (values !== undefined && !credentialHeaders.has(name)) kept[name] = values.join(', ');
  }
  return kept;
}

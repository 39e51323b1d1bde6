import { hash } from 'node:crypto';
import { isCallbackStatus, isJobId } from '../../domain/job.js';
import type { ContentClass } from '../../domain/kinds.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { quarantineFolder } from '../layout.js';
import { holdsBytes } from '../read-back.js';
import { markQuarantined } from './quarantined-bodies.js';

/** The request of a body that could not be decoded; stored beside it as `request.json`. */
export interface QuarantinedRequest {
  readonly v: 1;
  readonly deliveryId: string;
  readonly receivedAt: string;
  readonly source: string;
  readonly region: string | null;
  readonly clientIp: string | null;
  readonly method: string;
  readonly jobId: string;
  readonly status: string;
  /** The known parameters, as a query string; others are the submitter's own and are not kept. */
  readonly query: string;
  /** Well-known request headers by lower-case name; others may carry secrets and are not kept. */
  readonly headers: Readonly<Record<string, string>>;
  /** Stable code of the fault of the body. */
  readonly reason: string;
  /** The fault in words. */
  readonly detail: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Whether a document of the store is the request of this body. */
export function isQuarantinedRequest(document: Record<string, unknown>, id: string): boolean {
  const texts = ['receivedAt', 'source', 'method', 'jobId', 'status', 'query', 'reason', 'detail'];
  const { deliveryId, headers } = document;
  const hasHeaders = typeof headers === 'object' && headers !== null;
  const hasTexts = texts.every((name) => typeof document[name] === 'string');
  return deliveryId === id && hasHeaders && hasTexts && isQueryOf(document as unknown as QuarantinedRequest);
}

/** Whether the query matches the record. Decoding a body parses the query, which throws without these parameters. */
function isQueryOf({ query, jobId, status }: QuarantinedRequest): boolean {
  const parameters = new URLSearchParams(query);
  const has = (name: string, value: string) => parameters.getAll(name).join('&') === value;
  return isJobId(jobId) && isCallbackStatus(status) && has('id', jobId) && has('status', status);
}

/** The stored request, without the properties of the body. */
export type QuarantineRecord = Omit<QuarantinedRequest, 'bytes' | 'sha256' | 'v'>;

export type Quarantine = ReturnType<typeof createQuarantine>;

/** Raw bodies of authenticated deliveries that could not be decoded. */
export function createQuarantine(store: ObjectStore) {
  return {
    /** Resolves when the store holds body and request, byte for byte. */
    async keep(request: QuarantineRecord, body: Buffer): Promise<QuarantinedRequest> {
      const sha256 = hash('sha256', body, 'hex');
      const record: QuarantinedRequest = { v: 1, ...request, bytes: body.length, sha256 };
      const folder = quarantineFolder(request.deliveryId);
      const metadata = { 'job-id': request.jobId, 'delivery-id': request.deliveryId, source: request.source };
      const content = quarantineContent(request.source);
      const document = Buffer.from(JSON.stringify(record));
      // Before the body, so that an erasure finds every body by the index, even if this process dies in between.
      await markQuarantined(store, request.jobId, request.deliveryId);
      // The body before the request, because a request.json means that its body exists (test/unit/archive/quarantine/quarantine.test.ts).
      await write(store, `${folder}body`, body, {
        contentType: 'application/octet-stream',
        metadata: { ...metadata, sha256 },
        content,
      });
      const headers = { contentType: 'application/json', metadata, content };
      await write(store, `${folder}request.json`, document, headers);
      // Again, because an erasure that found the index entry without a body has removed the entry.
      await markQuarantined(store, request.jobId, request.deliveryId);
      return record;
    },
  };
}

/** Tags of a quarantined body and of all that belongs to it. */
function quarantineContent(source: string): { readonly kind: ContentClass; readonly source: string } {
  return { kind: 'quarantine', source };
}

/** Writes a key that only this delivery writes. So `exists` means that an answer was lost, which reading back confirms. */
async function write(
  store: ObjectStore,
  key: string,
  body: Buffer,
  headers: Parameters<ObjectStore['create']>[2],
): Promise<void> {
  if ((await store.create(key, body, headers)) === 'created') return;
  const expected = { size: body.length, sha256: hash('sha256', body, 'hex') };
  if (!(await holdsBytes(store, key, expected))) throw new StoreError('create', `${key} holds other bytes`);
}

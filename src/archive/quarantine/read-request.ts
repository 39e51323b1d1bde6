import { decodeTime } from 'ulid';
import type { ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import { quarantineFolder } from '../layout.js';
import { isQuarantinedRequest, type QuarantinedRequest } from './quarantine.js';

/**
 * The request of a quarantined body; null without a `request.json`. If that is damaged, the request is reconstructed from the metadata of
 * the body, so that it can be listed and settled. Such a body cannot be decoded, because its headers are lost.
 *
 * @param id a ULID
 */
export async function readRequest(
  store: Pick<ObjectStore, 'read' | 'head'>,
  id: string,
): Promise<QuarantinedRequest | null> {
  const key = `${quarantineFolder(id)}request.json`;
  const document = await readDocument(store, key);
  if (document !== null && isQuarantinedRequest(document, id))
    return document as unknown as QuarantinedRequest;
  return (await store.head(key)) === null ? null : damagedRequest(store, id);
}

async function damagedRequest(
  store: Pick<ObjectStore, 'head'>,
  id: string,
): Promise<QuarantinedRequest | null> {
  const body = await store.head(`${quarantineFolder(id)}body`);
  const { 'job-id': jobId, source, sha256 = '' } = body?.metadata ?? {};
  if (body === null || jobId === undefined || source === undefined) return null;
  return {
    v: 1,
    deliveryId: id,
    receivedAt: new Date(decodeTime(id)).toISOString(),
    source,
    jobId,
    status: 'success',
    query: `id=${jobId}&status=success`,
    method: 'POST',
    region: null,
    clientIp: null,
    headers: {},
    reason: 'request-damaged',
    detail: 'request.json is damaged: headers and query of the body are lost.',
    bytes: body.size,
    sha256,
  };
}

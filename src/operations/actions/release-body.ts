import type { Archive } from '../../archive/archive.js';
import type { QuarantinedRequest } from '../../archive/quarantine/quarantine.js';
import type { QuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import { type Acknowledgement, outcomeOf } from '../../domain/delivery.js';
import type { StoredItem } from '../../domain/item.js';
import { Problem } from '../../domain/problem.js';
import { bodyOf } from '../../index/bodies/list-bodies.js';
import type { LedgerView } from '../../index/ledger-view.js';
import { type AuditInfo, newDeliveryId, operatorLine } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import { contextOfStoredQuery } from '../../receive/access/callback-query.js';
import type { SourceContent } from '../../receive/access/sources.js';
import { decodeFailure, decodeQuarantined } from './decode-quarantined.js';

export interface ReleaseParts {
  readonly quarantine: Pick<QuarantineStore, 'request' | 'withBody'>;
  readonly view: Pick<LedgerView, 'bodies'>;
  readonly sources: ReadonlyMap<string, SourceContent>;
  readonly archive: Archive;
  readonly ledger: Pick<Ledger, 'append'>;
  /** Called with the size of every body that was released, for metrics. */
  readonly onReleased?: () => void;
}

/**
 * Decodes a quarantined body into the archive, with the current decoder and configuration. The body stays. A repeated release changes
 * nothing in the archive and, once the index has the first one, returns its result.
 *
 * Rejects with `not-found` for an unknown body, and when the job is erased meanwhile: then nothing of the release is left.
 * Rejects with `conflict` when the body still cannot be decoded.
 */
export function releaseBody(parts: ReleaseParts, id: string, audit: AuditInfo): Promise<Acknowledgement> {
  return parts.quarantine.withBody(id, async (body) => {
    const request = await parts.quarantine.request(id);
    if (request === null || body === null) throw unknownBody();
    const released = (await bodyOf(parts.view, id))?.release ?? null;
    if (released !== null)
      return resultOf(request, released.deliveryId, released.items as readonly StoredItem[]);
    return release(parts, { id, request, body }, audit);
  });
}

async function release(
  parts: ReleaseParts,
  { id, request, body }: { readonly id: string; readonly request: QuarantinedRequest; readonly body: Buffer },
  audit: AuditInfo,
): Promise<Acknowledgement> {
  const started = performance.now();
  const deliveryId = newDeliveryId();
  const receivedAt = new Date().toISOString();
  const items = await archiveBody(parts, request, body, { deliveryId, receivedAt });
  const { source, region, clientIp, method, jobId, status } = request;
  const durationMs = Math.round(performance.now() - started);
  const line = operatorLine(audit, {
    source,
    region,
    clientIp,
    method,
    jobId,
    status,
    deliveryId,
    receivedAt,
    items,
    durationMs,
    context: contextOfStoredQuery(request.query),
    outcome: 'released',
    bytes: body.length,
    body: id,
  });
  await parts.ledger.append(line);
  parts.onReleased?.();
  return resultOf(request, deliveryId, items);
}

async function archiveBody(
  parts: ReleaseParts,
  request: QuarantinedRequest,
  body: Buffer,
  act: { readonly deliveryId: string; readonly receivedAt: string },
): Promise<StoredItem[]> {
  const source = parts.sources.get(request.source);
  if (source === undefined) {
    throw new Problem('conflict', `The source ${request.source} is no longer configured.`);
  }
  const staged = parts.archive.begin({
    ...act,
    jobId: request.jobId,
    status: request.status,
    source: request.source,
    region: request.region,
    origin: 'replay',
    context: contextOfStoredQuery(request.query),
    keyPrefix: source.keyPrefix,
  });
  try {
    await decodeQuarantined(request, body, staged, source);
    const items = await staged.commit();
    if (items === null) throw unknownBody();
    return items;
  } catch (error) {
    const { detail, reason } = decodeFailure(error);
    throw new Problem('conflict', `It still cannot be decoded: ${detail} (${reason})`, { cause: error });
  } finally {
    await staged.discard();
  }
}

function resultOf(
  { jobId, status }: QuarantinedRequest,
  deliveryId: string,
  items: readonly StoredItem[],
): Acknowledgement {
  return { deliveryId, jobId, status, outcome: outcomeOf(items), items };
}

export function unknownBody(): Problem {
  return new Problem(
    'not-found',
    'The quarantine has no body with this id. One that is listed was lost from the store: refetch its job, or dismiss it.',
  );
}

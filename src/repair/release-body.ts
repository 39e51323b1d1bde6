import type { Archive } from '../archive/archive.js';
import { commitUnlessErased, isErased } from '../archive/erasure.js';
import type { Ledger } from '../archive/ledger/ledger.js';
import { type AuditInfo, newDeliveryId, operatorLine } from '../archive/ledger/ledger-line.js';
import type { QuarantinedRequest } from '../archive/quarantine/quarantine.js';
import type { QuarantineShelf } from '../archive/quarantine/quarantine-store.js';
import { type Acknowledgement, outcomeOf } from '../domain/delivery.js';
import type { StoredItem } from '../domain/item.js';
import { Problem } from '../domain/problem.js';
import type { ObjectStore } from '../store/object-store.js';
import { type DecodingSource, decodeStored, failureOf } from './decode-quarantined.js';

/** What a source's settings say today of decoding and placing its bodies. */
export interface ReleasingSource extends DecodingSource {
  readonly keyPrefix: string;
}

export interface ReleaseParts {
  readonly store: ObjectStore;
  readonly quarantine: QuarantineShelf;
  readonly sources: ReadonlyMap<string, ReleasingSource>;
  readonly archive: Archive;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly maxParts: number;
  /** Told of every body that was released, for metrics. */
  readonly onReleased?: (bytes: number) => void;
}

/**
 * Runs a quarantined body through today's decoder and configuration into the archive. The body stays, marked as
 * released; doing it again changes nothing and gives the same answer.
 *
 * Rejects with `not-found`, also when the job is erased meanwhile: then nothing of the release remains. Rejects with
 * `conflict` when the body still cannot be decoded.
 */
export function releaseBody(parts: ReleaseParts, id: string, order: AuditInfo): Promise<Acknowledgement> {
  return parts.quarantine.withBody(id, async (body) => {
    const [request, released] = await Promise.all([
      parts.quarantine.request(id),
      parts.quarantine.release(id),
    ]);
    if (request === null || body === null) throw nothingThere();
    if (released !== null) return answer(request, released.deliveryId, released.items);
    return release(parts, { id, request, body }, order);
  });
}

async function release(
  parts: ReleaseParts,
  { id, request, body }: { readonly id: string; readonly request: QuarantinedRequest; readonly body: Buffer },
  order: AuditInfo,
): Promise<Acknowledgement> {
  const started = performance.now();
  const deliveryId = newDeliveryId();
  const receivedAt = new Date().toISOString();
  const items = await archiveBody(parts, request, body, { deliveryId, receivedAt });
  const { source, region, clientIp, method, jobId, status } = request;
  const told = { source, region, clientIp, method, jobId, status, deliveryId, receivedAt, items };
  const durationMs = Math.round(performance.now() - started);
  const mark = await parts.quarantine.markReleased(id, jobId, {
    v: 1,
    deliveryId,
    releasedAt: receivedAt,
    ...order,
    outcome: outcomeOf(items),
    items,
  });
  // Of two replicas that release it at once, the one whose mark stays writes the line.
  if (mark.deliveryId === deliveryId) {
    const act = { ...told, outcome: 'released', origin: 'replay' as const, bytes: body.length, durationMs };
    await parts.ledger.append(operatorLine(order, act)).catch(async (error: unknown) => {
      // Without its line the release is not acknowledged, and must not look done to the next one.
      await parts.quarantine.unmarkReleased(id);
      throw error;
    });
  }
  // An erasure that began after the commit has found the artefacts, and may have looked here before the mark came.
  if (await isErased(parts.store, jobId)) await parts.quarantine.unmarkReleased(id);
  parts.onReleased?.(body.length);
  return answer(request, mark.deliveryId, mark.items);
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
    keyPrefix: source.keyPrefix,
  });
  try {
    await decodeStored(request, body, staged, source, parts.maxParts);
    const items = await commitUnlessErased(parts.store, request.jobId, () => staged.commit());
    if (items === null) throw nothingThere();
    return items;
  } catch (error) {
    const { detail, reason } = failureOf(error);
    throw new Problem('conflict', `It still cannot be decoded: ${detail} (${reason})`, { cause: error });
  } finally {
    await staged.discard();
  }
}

function nothingThere(): Problem {
  return new Problem('not-found', 'Nothing of this id is in quarantine.');
}

function answer(
  { jobId, status }: QuarantinedRequest,
  deliveryId: string,
  items: readonly StoredItem[],
): Acknowledgement {
  return { deliveryId, jobId, status, outcome: outcomeOf(items), items };
}

import type { SETTLED_BY } from '../../domain/quarantined-body.js';
import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { isErased } from '../erasure/erasure.js';
import { quarantineFolder } from '../layout.js';
import { type QuarantinedRequest, quarantineContent } from './quarantine.js';
import { markQuarantined, quarantinedBodies, removeErasedBody } from './quarantined-bodies.js';
import { readRequest } from './read-request.js';

/** Why a body need not be released any more; stored beside it, which stays, as `settled.json`. */
export interface Settlement {
  readonly v: 1;
  readonly settledAt: string;
  readonly by: (typeof SETTLED_BY)[number];
  /** Id of the ledger line of the act; null where there is none. */
  readonly deliveryId: string | null;
  /** Null when no operator settled it. */
  readonly actor: string | null;
  readonly reason: string | null;
}

export function settledKey(id: string): string {
  return `${quarantineFolder(id)}settled.json`;
}

export async function readSettlement(store: ObjectStore, id: string): Promise<Settlement | null> {
  return (await readDocument(store, settledKey(id))) as unknown as Settlement | null;
}

/** Returns the first mark, which stays. Null when the job was erased; then nothing of the body remains. */
export async function markSettled(
  store: ObjectStore,
  id: string,
  { jobId, source }: Pick<QuarantinedRequest, 'jobId' | 'source'>,
  settlement: Settlement,
): Promise<Settlement | null> {
  const headers = {
    ...DOCUMENT_HEADERS,
    metadata: { 'job-id': jobId },
    content: quarantineContent(source),
  };
  // An erasure finds the mark by the index. One that looked before the mark was written has left it: it is removed here.
  await markQuarantined(store, jobId, id);
  const created = await store.create(settledKey(id), Buffer.from(JSON.stringify(settlement)), headers);
  if (await isErased(store, jobId)) {
    await removeErasedBody(store, id, jobId);
    return null;
  }
  return created === 'created' ? settlement : ((await readSettlement(store, id)) ?? settlement);
}

/** Settles the waiting bodies of a job that arrived before the act, as far as `covers` takes them. */
export async function settleBodies(
  store: ObjectStore,
  jobId: string,
  settlement: Settlement,
  covers: (source: string) => boolean = () => true,
): Promise<void> {
  for (const { id, keys, receivedAt } of await quarantinedBodies(store, jobId)) {
    const folder = quarantineFolder(id);
    const isWaiting = keys.includes(`${folder}request.json`) && !keys.some((key) => isOutcome(key, folder));
    if (!isWaiting || receivedAt === null || receivedAt > settlement.settledAt) continue;
    const source = (await readRequest(store, id))?.source ?? null;
    if (source !== null && covers(source)) await markSettled(store, id, { jobId, source }, settlement);
  }
}

function isOutcome(key: string, folder: string): boolean {
  return key === `${folder}released.json` || key === `${folder}settled.json`;
}

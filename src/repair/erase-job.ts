import pLimit from 'p-limit';
import { listJobObjects } from '../archive/artefacts.js';
import { conflictClaims, erasureKey, jobFolder, quarantineMarker } from '../archive/layout.js';
import type { Ledger } from '../archive/ledger/ledger.js';
import { type AuditInfo, newDeliveryId, operatorLine } from '../archive/ledger/ledger-line.js';
import { indexedBodies } from '../archive/quarantine/quarantined-bodies.js';
import { type ObjectStore, StoreError } from '../store/object-store.js';

export interface EraseParts {
  readonly store: ObjectStore;
  /** The prefixes of all sources. */
  readonly keyPrefixes: readonly string[];
  readonly ledger: Pick<Ledger, 'append'>;
}

/** What an erasure deleted. */
export interface Erasure {
  readonly jobId: string;
  /** Id of its ledger line. */
  readonly deliveryId: string;
  readonly erased: {
    readonly artefacts: number;
    readonly conflicts: number;
    /** Quarantined bodies. */
    readonly quarantined: number;
    readonly bytes: number;
  };
}

const DELETES_AT_ONCE = 16;
/** Rounds of listing and deleting. A job that is still written to after them has a sender that was not stopped. */
const MAX_ROUNDS = 10;

/**
 * Erases everything that is stored of a job: artefacts, conflicts and quarantined bodies, below all prefixes. Deliveries
 * that end meanwhile are erased, too. An upload that ends later is not seen, so that senders have to be stopped first.
 * The ledger records the erasure; its lines hold no content. Idempotent.
 */
export async function eraseJob(parts: EraseParts, jobId: string, audit: AuditInfo): Promise<Erasure> {
  const started = performance.now();
  const deliveryId = newDeliveryId();
  // The mark comes first: recovery must not fetch again what is being erased.
  await parts.store.replace(erasureKey(jobId), erasureMark(jobId, audit), MARK_HEADERS);
  const counts = { artefacts: 0, conflicts: 0, quarantined: 0, bytes: 0 };
  for (let round = 1; ; round += 1) {
    const erased = await eraseRound(parts, jobId, counts);
    if (erased === 0) break;
    if (round === MAX_ROUNDS) throw new StoreError('erase', `${jobId} is still being written to`);
  }
  const { artefacts, conflicts, quarantined, bytes } = counts;
  const summary = `${artefacts} artefacts, ${conflicts} conflicts, ${quarantined} quarantined bodies erased`;
  await parts.ledger.append(
    operatorLine(
      { ...audit, reason: audit.reason === null ? summary : `${audit.reason} (${summary})` },
      {
        deliveryId,
        outcome: 'erased',
        origin: 'replay',
        jobId,
        bytes,
        durationMs: Math.round(performance.now() - started),
      },
    ),
  );
  return { jobId, deliveryId, erased: counts };
}

const MARK_HEADERS = { contentType: 'application/json', metadata: {} } as const;

function erasureMark(jobId: string, audit: AuditInfo): Buffer {
  return Buffer.from(JSON.stringify({ v: 1, jobId, erasedAt: new Date().toISOString(), ...audit }));
}

type Counts = { -readonly [name in keyof Erasure['erased']]: number };

/** Lists everything once and deletes it. Returns the number of deleted objects. */
async function eraseRound(
  { store, keyPrefixes }: EraseParts,
  jobId: string,
  counts: Counts,
): Promise<number> {
  const limit = pLimit(DELETES_AT_ONCE);
  const deleting: Promise<void>[] = [];
  for await (const { key, size } of listJobObjects(store, keyPrefixes, jobId)) {
    const isConflict = keyPrefixes.some((prefix) => key.startsWith(`${jobFolder(prefix, jobId)}conflicts/`));
    counts[isConflict ? 'conflicts' : 'artefacts'] += 1;
    counts.bytes += size;
    deleting.push(limit(() => store.delete(key)));
  }
  for (const { id, keys, bytes } of await indexedBodies(store, jobId)) {
    // Only a round that finds nothing there any more: a release may be writing there, or this process may die.
    if (keys.length === 0) await store.delete(quarantineMarker(jobId, id));
    else counts.quarantined += 1;
    counts.bytes += bytes;
    deleting.push(...keys.map((key) => limit(() => store.delete(key))));
  }
  await Promise.all(deleting);
  await eraseClaims(store, keyPrefixes, jobId);
  return deleting.length;
}

/** Claims of conflicts hold hashes of what was erased. */
async function eraseClaims(store: ObjectStore, keyPrefixes: readonly string[], jobId: string): Promise<void> {
  for (const prefix of new Set(keyPrefixes)) {
    for await (const { key } of store.list(conflictClaims(jobFolder(prefix, jobId)))) await store.delete(key);
  }
}

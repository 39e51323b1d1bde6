import pLimit from 'p-limit';
import { announceErasure, ERASURE_LEASE } from '../../../archive/erasure/erased-jobs.js';
import { markErased, readErasure } from '../../../archive/erasure/erasure.js';
import { purgeArtefacts } from '../../../archive/erasure/purge-artefacts.js';
import {
  ERASURES_FOLDER,
  erasureKey,
  jobFolder,
  knownKeys,
  quarantineFolder,
  quarantineMarkers,
} from '../../../archive/layout.js';
import { tracedBodies } from '../../../archive/quarantine/quarantined-bodies.js';
import { erasedInWords, KEPT_REASONS } from '../../../domain/erasure-words.js';
import { type AuditInfo, newDeliveryId, operatorLine } from '../../../ledger/ledger-line.js';
import type { Ledger } from '../../../ledger/write/ledger.js';
import { plural } from '../../../lib/text/plural.js';
import { systemClock } from '../../../lib/time/clock.js';
import {
  type ObjectStore,
  PartialListingError,
  type PurgedObject,
  StoreError,
} from '../../../store/object-store.js';
import { purgeEventsOf } from '../../../subscribers/dead-events.js';
import type { Erased } from '../../answers/jobs.js';

export interface EraseParts {
  readonly store: ObjectStore;
  /** The prefixes of all sources. */
  readonly keyPrefixes: readonly string[];
  readonly ledger: Pick<Ledger, 'append'>;
  /** Default: that of the system. */
  readonly sleep?: ((ms: number) => Promise<void>) | undefined;
}

type KeptRest = NonNullable<Erased['kept']>;

/** Rounds of listing and deleting. After them a replica must still be writing to the job. */
const MAX_ROUNDS = 10;

/** Slightly more than the lease, because timers may fire early. */
const SETTLING = ERASURE_LEASE + 100;

const BODIES_AT_ONCE = 16;

/**
 * Erases everything stored of a job, below all prefixes: artefacts, conflicts, quarantined bodies, uploads and dead events, with metadata
 * and old versions. From then on no replica stores anything of the job; objects of replicas that learn of the erasure late are removed by
 * the last round. Takes at least `ERASURE_LEASE`.
 *
 * The ledger records the erasure, with a line for each source and without content. Idempotent: repeat it when versions that were kept can
 * be removed.
 *
 * @param sources known sources of the job
 */
export async function eraseJob(
  parts: EraseParts,
  jobId: string,
  audit: AuditInfo,
  sources: readonly string[] = [],
): Promise<Erased> {
  const { store, sleep = systemClock.sleep } = parts;
  const started = performance.now();
  const deliveryId = newDeliveryId();
  const before = await readErasure(store, jobId);
  // The mark comes first: every commit checks for it afterwards.
  await markErased(store, jobId, audit, { complete: false, keptUntil: null, finishedAt: null });
  await announceErasure(store, jobId);
  const tally = new Tally();
  await purgeOnce(parts, jobId, tally);
  await sleep(SETTLING);
  tally.counts.uploads = await abortUploads(parts, jobId);
  for (let round = 1; ; round += 1) {
    tally.begin();
    await purgeOnce(parts, jobId, tally);
    if (!tally.found) break;
    if (round === MAX_ROUNDS) throw new StoreError('erase', `${jobId} is still being written to`);
  }
  await assertListed(parts, jobId);
  // Without the markers a repeated erasure would not find bodies that this one could not remove.
  if (tally.kept.length === 0) for await (const _entry of store.purge(quarantineMarkers(jobId)));
  const kept = restOf(tally.kept);
  const { counts } = tally;
  const summary = [
    `${erasedInWords(counts)} erased`,
    ...(before?.complete === false && before.finishedAt === null ? [UNFINISHED] : []),
    ...(kept === null ? [] : [keptText(kept)]),
  ].join('; ');
  const reason = audit.reason === null ? summary : `${audit.reason} (${summary})`;
  const act = { outcome: 'erased', origin: 'replay', jobId } as const;
  const durationMs = Math.round(performance.now() - started);
  const ids = (sources.length === 0 ? [null] : sources).map((source, n) => ({
    source,
    ...(n === 0 ? { deliveryId, bytes: counts.bytes } : { deliveryId: newDeliveryId() }),
  }));
  for (const id of ids)
    await parts.ledger.append(operatorLine({ ...audit, reason }, { ...act, ...id, durationMs }));
  const erasedAt = new Date().toISOString();
  await markErased(store, jobId, audit, {
    complete: kept === null,
    keptUntil: kept?.until ?? null,
    finishedAt: erasedAt,
  });
  return { jobId, deliveryId, complete: kept === null, erasedAt, ...audit, erased: { ...counts }, kept };
}

/** Note in the reason, because nothing else records what was erased before a failure or a kill. */
const UNFINISHED = 'an earlier erasure that did not finish may have erased more';

/** Sentence about the versions that remain: why, and until when. */
export function keptText({ versions, bytes, reasons, until }: KeptRest): string {
  const reason = reasons.map((each) => KEPT_REASONS[each]).join(', ');
  const end = until === null ? '' : ` until ${until}`;
  return `INCOMPLETE: ${plural(versions, 'version')} (${bytes} bytes) cannot be removed${end}: ${reason}`;
}

type Counts = { -readonly [name in keyof Erased['erased']]: number };

class Tally {
  readonly counts: Counts = {
    artefacts: 0,
    conflicts: 0,
    quarantined: 0,
    events: 0,
    versions: 0,
    uploads: 0,
    bytes: 0,
  };
  /** Objects that this round could not remove. */
  kept: PurgedObject[] = [];
  /** Whether this round removed anything. */
  found = false;

  begin(): void {
    this.kept = [];
    this.found = false;
  }

  add(purged: PurgedObject, counted: 'artefacts' | 'conflicts' | 'quarantined' | 'events' | null): void {
    if (purged.kept !== null) {
      this.kept.push(purged);
      return;
    }
    this.found = true;
    if (counted === null) return;
    this.counts.bytes += purged.size;
    this.counts[purged.what === 'version' ? 'versions' : counted] += 1;
  }
}

function restOf(kept: readonly PurgedObject[]): KeptRest | null {
  if (kept.length === 0) return null;
  const causes = kept.flatMap((each) => each.kept ?? []);
  const ends = causes.flatMap(({ until }) => until ?? []).sort((a, b) => a.getTime() - b.getTime());
  return {
    versions: kept.length,
    bytes: kept.reduce((sum, { size }) => sum + size, 0),
    reasons: [...new Set(causes.map(({ reason }) => reason))].sort(),
    until: ends.length < causes.length ? null : (ends.at(-1)?.toISOString() ?? null),
  };
}

/** One round: lists everything and removes it. */
async function purgeOnce({ store, keyPrefixes }: EraseParts, jobId: string, tally: Tally): Promise<void> {
  for (const prefix of keyPrefixes) {
    const folder = jobFolder(prefix, jobId);
    for await (const purged of purgeArtefacts(store, prefix, jobId)) {
      const { key } = purged;
      const kind = key.startsWith(`${folder}conflicts/`) ? 'conflicts' : 'artefacts';
      tally.add(purged, key.startsWith(folder) ? kind : null);
    }
  }
  for await (const purged of purgeEventsOf(store, jobId)) {
    tally.add(purged, purged.key.endsWith('.json') ? 'events' : null);
  }
  const limit = pLimit(BODIES_AT_ONCE);
  const ids = await tracedBodies(store, jobId);
  await Promise.all(
    ids.map((id) =>
      limit(async () => {
        for await (const purged of store.purge(quarantineFolder(id))) {
          tally.add(purged, purged.key.endsWith('/body') ? 'quarantined' : null);
        }
      }),
    ),
  );
}

/**
 * Throws if listings were partial, because objects missing in them were not removed: the mark of erasure must be listed, and no artefact may
 * be left.
 */
async function assertListed({ store, keyPrefixes }: EraseParts, jobId: string): Promise<void> {
  const mark = erasureKey(jobId);
  let isListed = false;
  for await (const key of store.traces(mark)) if (key === mark) isListed = true;
  if (!isListed) throw new PartialListingError(ERASURES_FOLDER, mark);
  for (const prefix of keyPrefixes) {
    const keys = knownKeys(prefix, jobId);
    const found = await Promise.all(keys.map((key) => store.head(key)));
    for (const each of found)
      if (each !== null) throw new PartialListingError(jobFolder(prefix, jobId), each.key);
  }
}

/** Aborts uploads of all replicas. Their deliveries then fail or are answered `noted`. */
async function abortUploads({ store, keyPrefixes }: EraseParts, jobId: string): Promise<number> {
  let aborted = 0;
  for (const prefix of keyPrefixes) aborted += await store.abortUploads(jobFolder(prefix, jobId));
  return aborted;
}

import pLimit from 'p-limit';
import { conflictClaims, quarantineMarker } from '../../archive/layout.js';
import type { LedgerLine } from '../../domain/delivery.js';
import type { RetentionClass } from '../../domain/kinds.js';
import { ledgerLine, NO_DELIVERY, newDeliveryId } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import { StoreError } from '../../store/object-store.js';
import { readText } from '../../store/read-to-end.js';
import type { ExpiredObject, ExpiringStore } from './expired-objects.js';

interface RemovalParts {
  readonly store: ExpiringStore;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly onRemoved: (kind: RetentionClass, bytes: number) => void;
  readonly onFault: (key: string, reason: string) => void;
  /** Objects that this process recorded as expired and could not remove. */
  readonly recorded: Set<string>;
}

/** Bounds `recorded` to some megabytes. Further objects get another line with each sweep. */
const MAX_RECORDED = 100_000;

const REMOVED_AT_ONCE = 16;

/** Objects of one job, kind and source; null for the receiver's own records. */
type Group = readonly [ExpiredObject, ...ExpiredObject[]];

/**
 * Removes objects that have expired. A line per job, kind and source records them first, so that nothing is removed without a line; what a
 * killed sweep leaves gets another line from the next one. Rejects with `StoreError` when lines could not be written.
 *
 * @param now milliseconds since the epoch
 */
export async function removeExpired(
  parts: RemovalParts,
  expired: readonly ExpiredObject[],
  now: number,
): Promise<void> {
  const groups = groupsOf(expired);
  const unrecorded = groupsOf(expired.filter(({ found }) => !parts.recorded.has(nameOf(found))));
  await Promise.all(unrecorded.map((group) => parts.ledger.append(lineOf(group, now))));
  await pLimit(REMOVED_AT_ONCE).map(groups, (group) => removeGroup(parts, group));
}

async function removeGroup(
  { store, onRemoved, onFault, recorded }: RemovalParts,
  group: Group,
): Promise<void> {
  const attempt = (key: string, work: () => Promise<void>) =>
    work().catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      onFault(key, error.message);
    });
  // Traces first: the next sweep finds them only through the objects.
  await attempt(group[0].found.key, () => removeTraces(store, group));
  for (const { kind, found } of requestFirst(group)) {
    if (recorded.size < MAX_RECORDED) recorded.add(nameOf(found));
    await attempt(found.key, async () => {
      if ((await store.expire(found)) === 'removed') onRemoved(kind, found.size);
      recorded.delete(nameOf(found));
    });
  }
}

/** Includes the time, so that another object at the same key gets a line of its own. */
function nameOf({ key, modifiedAt }: ExpiredObject['found']): string {
  return `${key} ${modifiedAt.getTime()}`;
}

/** request.json first: without it a body is not found any more. The other way round a body would be found that cannot be read. */
function requestFirst(group: Group): readonly ExpiredObject[] {
  return group.toSorted((a, b) => Number(isRequest(b)) - Number(isRequest(a)));
}

function isRequest({ kind, found }: ExpiredObject): boolean {
  return kind === 'quarantine' && found.key.endsWith('/request.json');
}

/** Removes the markers of quarantined bodies, and the claims of conflicts, which hold hashes of their content. */
async function removeTraces(store: ExpiringStore, group: Group): Promise<void> {
  const { jobId } = group[0];
  if (jobId === null) return;
  const keys = new Set(group.map(({ found }) => found.key));
  for (const id of matches(keys, /^quarantine\/([^/]+)\//)) await store.delete(quarantineMarker(jobId, id));
  for (const folder of matches(keys, /^(.*jobs\/[^/]+\/)conflicts\//)) {
    for await (const { key } of store.list(conflictClaims(folder))) {
      if (keys.has((await readText(store, key)) ?? '')) await store.delete(key);
    }
  }
}

function matches(keys: ReadonlySet<string>, pattern: RegExp): Set<string> {
  return new Set([...keys].flatMap((key) => pattern.exec(key)?.[1] ?? []));
}

function groupsOf(expired: readonly ExpiredObject[]): Group[] {
  const byName = Map.groupBy(expired, ({ kind, jobId, source }) => JSON.stringify([kind, jobId, source]));
  return [...byName.values()] as unknown as Group[];
}

function lineOf(group: Group, now: number): LedgerLine {
  const { kind, jobId, source } = group[0];
  return ledgerLine({
    ...NO_DELIVERY,
    deliveryId: newDeliveryId(now),
    receivedAt: new Date(now).toISOString(),
    origin: 'retention',
    source,
    jobId,
    outcome: 'expired',
    bytes: group.reduce((sum, { found }) => sum + found.size, 0),
    expired: { kind, objects: group.length },
  });
}

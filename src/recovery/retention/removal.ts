import { text } from 'node:stream/consumers';
import pLimit from 'p-limit';
import { conflictClaims, quarantineMarker, REMOVALS_FOLDER } from '../../archive/layout.js';
import type { LedgerLine } from '../../domain/delivery.js';
import { ledgerLine, NO_REQUEST, newDeliveryId } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import { type ListedObject, StoreError } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import type { ExpiredGroup, ExpiredObject, ExpiringStore } from './expired-objects.js';

/**
 * Objects that are about to be removed, and the lines that will record them: the document at `.retention/removals/<id>.json`.
 * It is written before the first of them is removed, and goes when the ledger has the lines; so every end has its line, also
 * after a crash, and the line that is written again is the same one.
 */
interface Removal {
  readonly v: 1;
  readonly groups: readonly RemovalGroup[];
}

interface RemovalGroup {
  readonly line: LedgerLine;
  readonly objects: readonly (readonly [key: string, size: number, modifiedAt: number])[];
}

export interface RemovalParts {
  readonly store: ExpiringStore;
  readonly ledger: Pick<Ledger, 'append'>;
  /** Who ordered it; null for the receiver itself. */
  readonly actor: string | null;
  readonly onFault: (key: string, reason: string) => void;
}

const REMOVED_AT_ONCE = 16;
/** Milliseconds after which a removal belongs to a process that died. Correctness does not depend on it. */
const ABANDONED = 600_000;

/**
 * Removes objects that have expired and records it: one line per job, kind and source. Another process may remove some of them
 * meanwhile; each is counted by the one that did. Rejects with `StoreError` when lines could not be written: then the next
 * sweep writes them.
 *
 * @param now milliseconds since the epoch
 */
export async function removeExpired(
  parts: RemovalParts,
  expired: readonly ExpiredObject[],
  now: number,
): Promise<readonly LedgerLine[]> {
  const { store } = parts;
  const removal: Removal = { v: 1, groups: groupsOf(expired, parts.actor, now) };
  const key = `${REMOVALS_FOLDER}${newDeliveryId(now)}.json`;
  await store.create(key, Buffer.from(JSON.stringify(removal)), DOCUMENT_HEADERS);
  return carryOut(parts, key, removal, async (found) => (await store.expiry.remove(found)) === 'removed');
}

/** Records what processes that died had removed. What they left is found by a sweep, if it has still expired then. */
export async function recordAbandoned(parts: RemovalParts, now: number): Promise<readonly LedgerLine[]> {
  const { store } = parts;
  const lines: LedgerLine[] = [];
  for await (const { key, modifiedAt } of store.list(REMOVALS_FOLDER)) {
    if (now - modifiedAt.getTime() < ABANDONED) continue;
    const removal = await readRemoval(store, key);
    const isGone = async (found: ListedObject) => (await store.head(found.key)) === null;
    if (removal !== null) lines.push(...(await carryOut(parts, key, removal, isGone)));
  }
  return lines;
}

async function readRemoval(store: ExpiringStore, key: string): Promise<Removal | null> {
  const document = await readDocument(store, key);
  return document?.v === 1 ? (document as unknown as Removal) : null;
}

/** The keys of all removals that are not finished. Throws `StoreError`. */
export async function keysBeingRemoved(store: ExpiringStore): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for await (const { key } of store.list(REMOVALS_FOLDER)) {
    for (const { objects } of (await readRemoval(store, key))?.groups ?? [])
      for (const [each] of objects) keys.add(each);
  }
  return keys;
}

/** Resolves to whether the object counts as removed. */
type Removing = (found: ListedObject) => Promise<boolean>;

async function carryOut(
  parts: RemovalParts,
  key: string,
  { groups }: Removal,
  remove: Removing,
): Promise<readonly LedgerLine[]> {
  const limit = pLimit(REMOVED_AT_ONCE);
  const removed = await Promise.all(groups.map((group) => removeGroup(parts, group, remove, limit)));
  const lines = removed.filter((line) => line !== null);
  await Promise.all(lines.map((line) => parts.ledger.append(line)));
  await parts.store.delete(key);
  return lines;
}

/** The line of what was removed; null when nothing was. */
async function removeGroup(
  { store, onFault }: RemovalParts,
  { line, objects }: RemovalGroup,
  remove: Removing,
  limit: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<LedgerLine | null> {
  const kind = line.expired?.kind;
  if (kind === undefined) return null;
  const removed = new Set<string>();
  let bytes = 0;
  const attempt = (key: string, work: () => Promise<void>) =>
    work().catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      onFault(key, error.message);
    });
  const removeOne = ([key, size, modifiedAt]: RemovalGroup['objects'][number]) =>
    attempt(key, async () => {
      if (!(await remove({ key, size, modifiedAt: new Date(modifiedAt) }))) return;
      removed.add(key);
      bytes += size;
    });
  if (kind === 'quarantine') {
    // A body without its request.json is not listed any more; the reverse would be a body that cannot be read.
    await limit(async () => {
      for (const object of requestFirst(objects)) await removeOne(object);
    });
  } else {
    await Promise.all(objects.map((object) => limit(() => removeOne(object))));
  }
  if (removed.size === 0) return null;
  await attempt(objects[0]?.[0] ?? kind, () => removeTraces(store, line, removed));
  return { ...line, bytes, expired: { kind, objects: removed.size } };
}

/** The index of quarantined bodies, and the claims of conflicts, which hold hashes of what they were. */
async function removeTraces(
  store: ExpiringStore,
  { jobId }: LedgerLine,
  removed: ReadonlySet<string>,
): Promise<void> {
  if (jobId === null) return;
  for (const id of matches(removed, /^quarantine\/([^/]+)\//))
    await store.delete(quarantineMarker(jobId, id));
  for (const folder of matches(removed, /^(.*jobs\/[^/]+\/)conflicts\//)) {
    for await (const { key } of store.list(conflictClaims(folder))) {
      const claim = await store.read(key);
      if (claim !== null && removed.has(await text(claim.body))) await store.delete(key);
    }
  }
}

function matches(keys: ReadonlySet<string>, pattern: RegExp): Set<string> {
  return new Set([...keys].flatMap((key) => pattern.exec(key)?.[1] ?? []));
}

function requestFirst(objects: RemovalGroup['objects']): RemovalGroup['objects'] {
  const isRequest = ([key]: RemovalGroup['objects'][number]) => key.endsWith('/request.json');
  return [...objects.filter(isRequest), ...objects.filter((object) => !isRequest(object))];
}

function groupsOf(expired: readonly ExpiredObject[], actor: string | null, now: number): RemovalGroup[] {
  const groups = new Map<string, ExpiredObject[]>();
  for (const each of expired) {
    const name = JSON.stringify([each.kind, each.jobId, each.source]);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [each]);
    else group.push(each);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const objects = group.map(({ found }) => [found.key, found.size, found.modifiedAt.getTime()] as const);
    return [{ line: lineOf(first, group, actor, now), objects }];
  });
}

function lineOf(
  { kind, jobId, source }: ExpiredGroup,
  group: readonly ExpiredObject[],
  actor: string | null,
  now: number,
): LedgerLine {
  return ledgerLine({
    ...NO_REQUEST,
    deliveryId: newDeliveryId(now),
    receivedAt: new Date(now).toISOString(),
    origin: 'retention',
    source,
    region: null,
    jobId,
    status: null,
    outcome: 'expired',
    reason: null,
    items: [],
    bytes: group.reduce((sum, { found }) => sum + found.size, 0),
    durationMs: 0,
    context: null,
    actor,
    expired: { kind, objects: group.length },
  });
}

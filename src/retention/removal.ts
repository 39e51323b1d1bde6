import pLimit from 'p-limit';
import { conflictClaims, quarantineMarker, REMOVALS_FOLDER } from '../archive/layout.js';
import type { LedgerLine } from '../domain/delivery.js';
import { ledgerLine, NO_REQUEST, newDeliveryId } from '../ledger/ledger-line.js';
import type { Ledger } from '../ledger/write/ledger.js';
import { type ListedObject, StoreError } from '../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../store/read-document.js';
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
  /** Milliseconds since the epoch: these objects are older. */
  readonly before: number;
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
  expired: readonly (ExpiredObject & { readonly before: number })[],
  now: number,
): Promise<readonly LedgerLine[]> {
  const removal: Removal = { v: 1, groups: groupsOf(expired, parts.actor, now) };
  const key = `${REMOVALS_FOLDER}${newDeliveryId(now)}.json`;
  await parts.store.create(key, Buffer.from(JSON.stringify(removal)), DOCUMENT_HEADERS);
  return carryOut(parts, key, removal, () => 'remove');
}

/**
 * Finishes the removals of processes that died. What such a process removed is recorded; what is still there is removed only
 * if it has still expired, because the periods may be longer now.
 */
export async function finishRemovals(
  parts: RemovalParts,
  hasExpired: (group: ExpiredGroup, before: number) => boolean,
  now: number,
): Promise<readonly LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for await (const { key, modifiedAt } of parts.store.list(REMOVALS_FOLDER)) {
    if (now - modifiedAt.getTime() < ABANDONED) continue;
    const document = await readDocument(parts.store, key);
    if (document?.v !== 1) continue;
    const removal = document as unknown as Removal;
    const mode = ({ line: { jobId, source, expired }, before }: RemovalGroup) =>
      expired !== undefined && hasExpired({ kind: expired.kind, jobId, source }, before)
        ? 'finish'
        : 'record';
    lines.push(...(await carryOut(parts, key, removal, mode)));
  }
  return lines;
}

/** The keys of all removals that are not finished. Throws `StoreError`. */
export async function keysBeingRemoved(store: ExpiringStore): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for await (const { key } of store.list(REMOVALS_FOLDER)) {
    const document = await readDocument(store, key);
    if (document?.v !== 1) continue;
    for (const { objects } of (document as unknown as Removal).groups)
      for (const [each] of objects) keys.add(each);
  }
  return keys;
}

/** `finish` and `record` count what is gone as removed by the process that died; `record` removes nothing more. */
type Mode = 'remove' | 'finish' | 'record';

async function carryOut(
  parts: RemovalParts,
  key: string,
  { groups }: Removal,
  modeOf: (group: RemovalGroup) => Mode,
): Promise<readonly LedgerLine[]> {
  const limit = pLimit(REMOVED_AT_ONCE);
  const removed = await Promise.all(groups.map((group) => removeGroup(parts, group, modeOf(group), limit)));
  const lines = removed.filter((line) => line !== null);
  await Promise.all(lines.map((line) => parts.ledger.append(line)));
  await parts.store.delete(key);
  return lines;
}

/** The line of what was removed; null when nothing was. */
async function removeGroup(
  parts: RemovalParts,
  { line, before, objects }: RemovalGroup,
  mode: Mode,
  limit: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<LedgerLine | null> {
  const { store, onFault } = parts;
  const kind = line.expired?.kind;
  if (kind === undefined) return null;
  let faulty = false;
  const tally = { objects: 0, bytes: 0 };
  const removeOne = async ([key, size, modifiedAt]: RemovalGroup['objects'][number]) => {
    const found: ListedObject = { key, size, modifiedAt: new Date(modifiedAt) };
    try {
      const result = mode === 'record' ? await presence(parts, found) : await store.expiry.remove(found);
      if (result !== 'removed' && (result !== 'missing' || mode === 'remove')) return;
      tally.objects += 1;
      tally.bytes += size;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      faulty = true;
      onFault(key, error.message);
    }
  };
  if (kind === 'quarantine') {
    // A body without its request.json is not listed any more; the reverse would be a body that cannot be read.
    await limit(async () => {
      for (const object of requestFirst(objects)) await removeOne(object);
    });
  } else {
    await Promise.all(objects.map((object) => limit(() => removeOne(object))));
  }
  if (!faulty && mode !== 'record') {
    await removeTraces(store, line, before, objects).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      onFault(objects[0]?.[0] ?? kind, error.message);
    });
  }
  return tally.objects === 0
    ? null
    : { ...line, bytes: tally.bytes, expired: { kind, objects: tally.objects } };
}

async function presence({ store }: RemovalParts, { key }: ListedObject): Promise<'missing' | 'replaced'> {
  return (await store.head(key)) === null ? 'missing' : 'replaced';
}

function requestFirst(objects: RemovalGroup['objects']): RemovalGroup['objects'] {
  const isRequest = ([key]: RemovalGroup['objects'][number]) => key.endsWith('/request.json');
  return [...objects.filter(isRequest), ...objects.filter((object) => !isRequest(object))];
}

/** The index of quarantined bodies, and the claims of conflicts, which hold hashes of what they were. */
async function removeTraces(
  store: ExpiringStore,
  { jobId }: LedgerLine,
  before: number,
  objects: RemovalGroup['objects'],
): Promise<void> {
  if (jobId === null) return;
  for (const id of matches(objects, /^quarantine\/([^/]+)\//))
    await store.delete(quarantineMarker(jobId, id));
  for (const folder of matches(objects, /^(.*jobs\/[^/]+\/)conflicts\//)) {
    for await (const claim of store.list(conflictClaims(folder))) {
      if (claim.modifiedAt.getTime() < before) await store.delete(claim.key);
    }
  }
}

function matches(objects: RemovalGroup['objects'], pattern: RegExp): Set<string> {
  return new Set(objects.flatMap(([key]) => pattern.exec(key)?.[1] ?? []));
}

function groupsOf(
  expired: readonly (ExpiredObject & { readonly before: number })[],
  actor: string | null,
  now: number,
): RemovalGroup[] {
  const groups = new Map<string, (ExpiredObject & { readonly before: number })[]>();
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
    return [{ line: lineOf(first, group, actor, now), before: first.before, objects }];
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

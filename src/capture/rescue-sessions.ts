import { appendFile, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredItem } from '../domain/item.js';
import { readLedger } from '../ledger/ledger-reader.js';
import type { ObjectStore } from '../store/object-store.js';
import { isAlive, JOURNAL_OWNER, ownerName } from './journal-owner.js';
import {
  type DeliveryParts,
  recordSession,
  type SessionContext,
  storeTranscripts,
} from './session-delivery.js';
import { journalLine, type ReadJournal, readJournal } from './session-journal.js';
import { type SessionResult, sessionTranscripts } from './session-transcripts.js';

export interface RescueParts extends DeliveryParts {
  /** Location of the store, as journals name it. */
  readonly location: string;
  /** Folder of the journals; need not exist. */
  readonly folder: string;
  readonly observer: RescueObserver;
}

/** Receives the result for each journal of a dead process. */
export interface RescueObserver {
  onFound(path: string): void;
  onArchived(path: string, jobId: string, items: readonly StoredItem[]): void;
  /** The journal stays: it could not be archived, or belongs to another store. */
  onLeft(path: string, reason: string): void;
}

const JOURNAL = new RegExp(`^([0-9A-Z]{26})\\.(${JOURNAL_OWNER.source})\\.ndjson$`);

/** Journals of dead processes. A process calls this before it begins a session of its own. */
export async function findJournals({ folder, observer }: RescueParts): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await namesIn(folder, observer)).sort()) {
    const owner = JOURNAL.exec(name)?.[2];
    if (owner === undefined) continue;
    const path = join(folder, name);
    const info = await stat(path).catch(() => null);
    // An own journal remains from a failed attempt of this process.
    if (info !== null && (owner === ownerName() || !isAlive(owner, info.mtime))) found.push(path);
  }
  return found;
}

/**
 * Archives the sessions of these journals, each exactly once, however many processes try at the same time. A
 * journal is removed when its transcript and ledger line are durable. Never throws.
 */
export async function rescueSessions(parts: RescueParts, journals: readonly string[]): Promise<void> {
  for (const path of journals) {
    try {
      await rescue(parts, path);
    } catch (error) {
      parts.observer.onLeft(path, (error as Error).message);
    }
  }
}

async function namesIn(folder: string, observer: RescueObserver): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') observer.onLeft(folder, `it cannot be read (${error.code})`);
    return [];
  });
}

async function rescue(parts: RescueParts, found: string): Promise<void> {
  const text = await readIfThere(found);
  if (text === null) return;
  const head = readJournal(text)?.head;
  if (head !== undefined && head.v !== 1) throw new Error(`the journal has the unknown version ${head.v}`);
  if (head !== undefined && head.store !== parts.location)
    throw new Error(`it belongs to the store ${head.store}`);
  const path = await claim(found);
  if (path === null) return;
  const journal = readJournal(text);
  // Truncated within the head: no segment was final yet.
  if (journal === null) return unlink(path);
  parts.observer.onFound(path);
  const items = await archive(parts, path, journal);
  if (items !== null) parts.observer.onArchived(path, journal.head.context.jobId, items);
  await unlink(path);
}

/** Renaming succeeds for one process only. Null when another one claimed it first. */
async function claim(found: string): Promise<string | null> {
  const path = found.replace(JOURNAL_OWNER, ownerName());
  try {
    await rename(found, path);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Null when the job was erased: erased jobs must not be archived again. */
async function archive(parts: RescueParts, path: string, journal: ReadJournal): Promise<StoredItem[] | null> {
  const { head, segments } = journal;
  const { context } = head;
  const result = journal.result ?? (await recordInterruption(path, journal));
  const files = sessionTranscripts(head, segments, result);
  const items = await storeTranscripts(parts, context, files, result.status);
  if (items === null) return null;
  // A result in the journal means that an earlier attempt began to archive it, and may have succeeded.
  if (journal.result === null || !(await isRecorded(parts.store, context)))
    await recordSession(parts, context, items, { ...result, bytes: result.acknowledged.bytes });
  return items;
}

/** Writes the result to the journal, so that a second attempt produces the same bytes. */
async function recordInterruption(path: string, { tallies }: ReadJournal): Promise<SessionResult> {
  const result: SessionResult = {
    ...tallies,
    status: 'incomplete',
    reason: 'process-ended',
    detail:
      'the capturing process ended before the session; the transcript holds the segments that were final by then',
    finishedAt: (await stat(path)).mtime.toISOString(),
    complete: false,
    durationLimit: null,
  };
  // Begins with a line feed: the last line may be truncated.
  await appendFile(path, `\n${journalLine({ result })}`, { flush: true });
  return result;
}

async function isRecorded(store: ObjectStore, context: SessionContext): Promise<boolean> {
  const since = context.receivedAt;
  const until = new Date(Date.parse(since) + 1).toISOString();
  for await (const { deliveryId } of readLedger(store, { since, until }))
    if (deliveryId === context.deliveryId) return true;
  return false;
}

async function readIfThere(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

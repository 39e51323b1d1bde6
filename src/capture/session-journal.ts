import { closeSync, fdatasync, futimesSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { TranscriptSegment } from '../speech/realtime/transcript/transcript-segment.js';
import { ownName, SIGN_OF_LIFE } from './journal-owner.js';
import type { AudioTallies, SessionHead, SessionResult } from './session-transcripts.js';

/**
 * What is final of a running session, on local disk: one JSON document per line, the head first, then each final
 * segment, at last the result. A process that is killed leaves it; `rescueSessions` archives it.
 */
export interface SessionJournal {
  readonly path: string;
  /** The operating system has the segment when this returns; the disk has it a moment later. */
  addSegment(segment: TranscriptSegment, tallies: AudioTallies): void;
  addResult(result: SessionResult): void;
  /** The session is archived: the journal goes. Never throws. */
  remove(): Promise<void>;
  /** Leaves the journal where it is. */
  close(): Promise<void>;
}

export type JournalEntry =
  | { readonly head: SessionHead }
  | ({ readonly segment: TranscriptSegment } & AudioTallies)
  | { readonly result: SessionResult };

export interface JournalOptions {
  readonly folder: string;
  /** Told of the first failure to write; the session goes on. */
  readonly onTrouble: (error: Error) => void;
}

const syncData = promisify(fdatasync);

/** Begins a journal in the folder, which is made if need be. Throws when it cannot be written. */
export function beginJournal(head: SessionHead, options: JournalOptions): SessionJournal {
  const { folder } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${head.context.deliveryId}.${ownName()}.ndjson`);
  const journal = new Journal(path, options.onTrouble);
  journal.add({ head });
  void syncFolder(folder);
  return journal;
}

class Journal implements SessionJournal {
  readonly path: string;
  readonly #onTrouble: (error: Error) => void;
  readonly #descriptor: number;
  readonly #signs: NodeJS.Timeout;
  /** What the disk did not take yet. */
  #unwritten = Buffer.alloc(0);
  #unsynced = false;
  #syncing: Promise<void> | null = null;
  #complained = false;
  #closed = false;

  constructor(path: string, onTrouble: (error: Error) => void) {
    this.path = path;
    this.#onTrouble = onTrouble;
    this.#descriptor = openSync(path, 'wx', 0o600);
    this.#signs = setInterval(() => this.#signLife(), SIGN_OF_LIFE).unref();
  }

  addSegment(segment: TranscriptSegment, { sent, acknowledged }: AudioTallies): void {
    this.add({ segment, sent, acknowledged });
  }

  addResult(result: SessionResult): void {
    this.add({ result });
  }

  add(entry: JournalEntry): void {
    this.#unwritten = Buffer.concat([this.#unwritten, Buffer.from(journalLine(entry))]);
    try {
      // Not asynchronous: what waits in this process is lost with it.
      while (this.#unwritten.length > 0)
        this.#unwritten = this.#unwritten.subarray(writeSync(this.#descriptor, this.#unwritten));
    } catch (error) {
      this.#complain(error as Error);
    }
    this.#unsynced = true;
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = null;
    });
  }

  async remove(): Promise<void> {
    await this.close();
    await unlink(this.path).catch(() => undefined);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#signs);
    await this.#syncing;
    closeSync(this.#descriptor);
  }

  /** One at a time; what is written meanwhile goes with the next. */
  async #sync(): Promise<void> {
    while (this.#unsynced) {
      this.#unsynced = false;
      await syncData(this.#descriptor).catch((error: Error) => this.#complain(error));
    }
  }

  /** A full disk may have room again for the next segment: what it did not take is tried again with that. */
  #complain(error: Error): void {
    if (!this.#complained) this.#onTrouble(error);
    this.#complained = true;
  }

  #signLife(): void {
    const now = new Date();
    try {
      futimesSync(this.#descriptor, now, now);
    } catch (error) {
      this.#complain(error as Error);
    }
  }
}

export function journalLine(entry: JournalEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

export interface ReadJournal {
  readonly head: SessionHead;
  readonly segments: readonly TranscriptSegment[];
  /** As of the last segment. */
  readonly tallies: AudioTallies;
  /** Null when the process ended before the session did. */
  readonly result: SessionResult | null;
}

const NOTHING = { frames: 0, bytes: 0, seconds: null };

/**
 * Reads a journal as far as it goes: a line that was cut is left out. Null when not even the head is whole: then
 * nothing final can follow.
 */
export function readJournal(text: string): ReadJournal | null {
  const segments: TranscriptSegment[] = [];
  let head: SessionHead | null = null;
  let tallies: AudioTallies = { sent: NOTHING, acknowledged: NOTHING };
  let result: SessionResult | null = null;
  for (const line of text.split('\n')) {
    const entry = line === '' ? null : parse(line);
    if (entry === null) continue;
    if ('head' in entry) head ??= entry.head;
    else if ('result' in entry) result ??= entry.result;
    else if ('segment' in entry) {
      segments.push(entry.segment);
      tallies = { sent: entry.sent, acknowledged: entry.acknowledged };
    }
  }
  return head === null ? null : { head, segments, tallies, result };
}

function parse(line: string): JournalEntry | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as JournalEntry) : null;
  } catch {
    return null;
  }
}

/** The entry of a new file is durable only after this; so is that of a new folder in its parent. */
async function syncFolder(folder: string): Promise<void> {
  for (const each of [folder, dirname(folder)]) {
    const handle = await open(each, 'r').catch(() => null);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  }
}

import { closeSync, fdatasync, futimesSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { TranscriptSegment } from '../speech/realtime/transcript/transcript-segment.js';
import { HEARTBEAT_INTERVAL, ownerName } from './journal-owner.js';
import type { AudioTallies, SessionHead, SessionResult } from './session-transcripts.js';

/**
 * The final segments of a running session on local disk: one JSON document per line, the head first, then each final
 * segment, then the result. When the process is killed, the file remains and `rescueSessions` archives it.
 */
export interface SessionJournal {
  readonly path: string;
  /** The operating system has the segment when this returns; the disk has it a moment later. */
  addSegment(segment: TranscriptSegment, tallies: AudioTallies): void;
  addResult(result: SessionResult): void;
  /** Removes the file of an archived session. Never throws. */
  remove(): Promise<void>;
  /** Keeps the file. */
  close(): Promise<void>;
}

export type JournalEntry =
  | { readonly head: SessionHead }
  | ({ readonly segment: TranscriptSegment } & AudioTallies)
  | { readonly result: SessionResult };

export interface JournalOptions {
  readonly folder: string;
  /** Called with the first write error; the session goes on. */
  readonly onWriteError: (error: Error) => void;
}

const syncData = promisify(fdatasync);

/** Begins a journal in the folder, which is created when missing. Throws when it cannot be written. */
export function beginJournal(head: SessionHead, options: JournalOptions): SessionJournal {
  const { folder } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${head.context.deliveryId}.${ownerName()}.ndjson`);
  const journal = new Journal(path, options.onWriteError);
  journal.add({ head });
  void syncFolder(folder);
  return journal;
}

class Journal implements SessionJournal {
  readonly path: string;
  readonly #onWriteError: (error: Error) => void;
  readonly #descriptor: number;
  readonly #heartbeat: NodeJS.Timeout;
  /** Bytes that are not written yet. */
  #unwritten = Buffer.alloc(0);
  #unsynced = false;
  #syncing: Promise<void> | null = null;
  #reported = false;
  #closed = false;

  constructor(path: string, onWriteError: (error: Error) => void) {
    this.path = path;
    this.#onWriteError = onWriteError;
    this.#descriptor = openSync(path, 'wx', 0o600);
    this.#heartbeat = setInterval(() => this.#writeHeartbeat(), HEARTBEAT_INTERVAL).unref();
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
      // Synchronous: bytes that wait in this process would be lost with it.
      while (this.#unwritten.length > 0)
        this.#unwritten = this.#unwritten.subarray(writeSync(this.#descriptor, this.#unwritten));
    } catch (error) {
      this.#reportOnce(error as Error);
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
    clearInterval(this.#heartbeat);
    await this.#syncing;
    closeSync(this.#descriptor);
  }

  /** One at a time; bytes written meanwhile are synced by the next. */
  async #sync(): Promise<void> {
    while (this.#unsynced) {
      this.#unsynced = false;
      await syncData(this.#descriptor).catch((error: Error) => this.#reportOnce(error));
    }
  }

  /** Reports the first error only. Unwritten bytes are retried with the next segment: a full disk may have room again. */
  #reportOnce(error: Error): void {
    if (!this.#reported) this.#onWriteError(error);
    this.#reported = true;
  }

  #writeHeartbeat(): void {
    const now = new Date();
    try {
      futimesSync(this.#descriptor, now, now);
    } catch (error) {
      this.#reportOnce(error as Error);
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
 * Reads a journal and skips truncated lines. Null when the head is truncated: then no segment follows.
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

/** Makes the entries of a new file and a new folder durable. */
async function syncFolder(folder: string): Promise<void> {
  for (const each of [folder, dirname(folder)]) {
    const handle = await open(each, 'r').catch(() => null);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  }
}

import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { IndexError } from '../index-error.js';

/** What another process needs in the index: lines written before its request, or everything that the index should have. */
export type FillRequest = 'new' | 'whole';

/**
 * A request is a file of one byte in a folder next to the index. The writer of the index removes it when it is done. It truncates it on
 * failure, which also works on a full disk.
 */
const folderOf = (path: string) => `${path}-asks`;
const REQUEST_CONTENT = '\n';
/** Milliseconds between polls for requests and for the answer, and between checks whether the writer is alive. */
const POLL_REQUESTS_EVERY = 100;
const POLL_ANSWER_EVERY = 20;
const CHECK_WRITER_EVERY = 200;

/**
 * Serves the requests of other processes to the writer of an index. Does not keep the process alive.
 *
 * @param path of the index
 * @param work rejects when the request failed
 */
export function serveFillRequests(
  path: string,
  work: (request: FillRequest) => Promise<void>,
): { stop(): void } {
  const folder = folderOf(path);
  let begun = new Set<string>();
  let isStopped = false;

  async function answer(name: string): Promise<void> {
    const file = join(folder, name);
    try {
      await work(name.startsWith('whole') ? 'whole' : 'new');
      rmSync(file, { force: true });
    } catch {
      // Closing the index is no failure: the client notices that the writer has ended, and continues without it.
      if (!isStopped) truncateSync(file);
    }
  }

  function poll(): void {
    const names = requestsIn(folder);
    const added = names.filter((name) => !begun.has(name));
    begun = new Set(names);
    // The client may have ended.
    for (const name of added) answer(name).catch(() => undefined);
  }

  // Requests to an earlier writer are obsolete.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const timer = setInterval(poll, POLL_REQUESTS_EVERY).unref();
  return {
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

function requestsIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The folder was removed: clients continue without an answer.
    return [];
  }
}

export interface FillRequestOptions {
  /** Milliseconds to wait; Infinity: as long as the writer is alive. */
  readonly timeout: number;
  /** Whether a process still writes the index. */
  readonly isWriterAlive: () => Promise<boolean>;
}

/**
 * Sends a request to the writer of an index. Resolves to its success. Rejects with a lost `IndexError` when the writer has ended or does
 * not answer: it may hang, and its index may be stale.
 */
export async function requestFill(
  path: string,
  request: FillRequest,
  { timeout, isWriterAlive }: FillRequestOptions,
): Promise<'done' | 'failed'> {
  const file = join(folderOf(path), `${request}-${randomUUID()}`);
  try {
    writeFileSync(file, REQUEST_CONTENT, { flag: 'wx', mode: 0o600 });
  } catch {
    rmSync(file, { force: true });
    throw lost('takes no questions');
  }
  try {
    for (let waited = 0; ; waited += POLL_ANSWER_EVERY) {
      await sleep(POLL_ANSWER_EVERY);
      const size = statSync(file, { throwIfNoEntry: false })?.size;
      if (size === undefined) return 'done';
      if (size === 0) return 'failed';
      if (waited % CHECK_WRITER_EVERY === 0 && !(await isWriterAlive())) throw lost('has ended');
      if (waited >= timeout) throw lost('does not answer');
    }
  } finally {
    rmSync(file, { force: true });
  }
}

function lost(what: string): IndexError {
  return new IndexError(`the process that writes the index ${what}`, true);
}

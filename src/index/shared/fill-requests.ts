import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { IndexError } from '../index-error.js';

/** What another process wants in the index: what was written before it asks, or everything that the index is to have. */
export type Ask = 'new' | 'whole';

/**
 * An ask is a file of one byte in a folder beside the index. The writer of the index removes it when it is done, and empties it when it
 * failed, for which a full disk has room.
 */
const folderOf = (path: string) => `${path}-asks`;
const ASKED = '\n';
/** Milliseconds between looks for asks, for the answer, and whether the writer still lives. */
const ASKS_LOOKED_EVERY = 100;
const ANSWER_LOOKED_EVERY = 20;
const KEPT_LOOKED_EVERY = 200;

/**
 * Does what other processes ask of the writer of an index. Keeps no process alive.
 *
 * @param path of the index
 * @param work rejects when it could not be done
 */
export function answerAsks(path: string, work: (ask: Ask) => Promise<void>): { stop(): void } {
  const folder = folderOf(path);
  let begun = new Set<string>();
  let isStopped = false;

  async function answer(name: string): Promise<void> {
    const file = join(folder, name);
    try {
      await work(name.startsWith('whole') ? 'whole' : 'new');
      rmSync(file, { force: true });
    } catch {
      // While the index is being closed nothing failed: whoever asked finds that its writer has ended, and does without.
      if (!isStopped) truncateSync(file);
    }
  }

  function look(): void {
    const names = asksIn(folder);
    const added = names.filter((name) => !begun.has(name));
    begun = new Set(names);
    // Whoever asked may have gone.
    for (const name of added) answer(name).catch(() => undefined);
  }

  // Asks that an earlier writer left behind are obsolete.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const timer = setInterval(look, ASKS_LOOKED_EVERY).unref();
  return {
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

function asksIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The folder was removed: whoever asks goes on without an answer.
    return [];
  }
}

export interface AskOptions {
  /** Milliseconds to wait; Infinity: as long as the writer lives. */
  readonly patience: number;
  /** Whether a process still writes the index. */
  readonly isKept: () => Promise<boolean>;
}

/**
 * Asks the writer of an index. Resolves to whether it could do it. Rejects with an `IndexError` that is lost when it has ended or does not
 * answer: it may hang, and its index be old.
 */
export async function askWriter(
  path: string,
  ask: Ask,
  { patience, isKept }: AskOptions,
): Promise<'done' | 'failed'> {
  const file = join(folderOf(path), `${ask}-${randomUUID()}`);
  try {
    writeFileSync(file, ASKED, { flag: 'wx', mode: 0o600 });
  } catch {
    rmSync(file, { force: true });
    throw lost('takes no questions');
  }
  try {
    for (let waited = 0; ; waited += ANSWER_LOOKED_EVERY) {
      await sleep(ANSWER_LOOKED_EVERY);
      const size = statSync(file, { throwIfNoEntry: false })?.size;
      if (size === undefined) return 'done';
      if (size === 0) return 'failed';
      if (waited % KEPT_LOOKED_EVERY === 0 && !(await isKept())) throw lost('has ended');
      if (waited >= patience) throw lost('does not answer');
    }
  } finally {
    rmSync(file, { force: true });
  }
}

function lost(what: string): IndexError {
  return new IndexError(`the process that writes the index ${what}`, true);
}

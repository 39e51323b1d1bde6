import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { IndexError } from '../index-calls.js';

/** What another process wants in the index: what was written before it asks, or everything that the index is to have. */
export type Ask = 'new' | 'whole';

/** An ask is a file in a folder beside the index, which its writer removes when it is done, or renames when it failed. */
const folderOf = (path: string) => `${path}-asks`;
const FAILED = '.failed';
/** Milliseconds between looks for asks where the system cannot watch a folder. */
const LOOK_EVERY = 500;
/** Milliseconds between looks for the answer. */
const ANSWER_LOOKED_EVERY = 20;
/** Milliseconds between looks whether the writer still lives. */
const KEPT_LOOKED_EVERY = 200;

/**
 * Does what other processes ask of the writer of an index. Keeps no process alive.
 *
 * @param path of the index
 * @param work rejects when it could not be done
 */
export function answerAsks(path: string, work: (ask: Ask) => Promise<void>): { stop(): void } {
  const folder = folderOf(path);
  const known = new Set<string>();

  async function answer(name: string): Promise<void> {
    known.add(name);
    const file = join(folder, name);
    try {
      await work(name.startsWith('whole') ? 'whole' : 'new');
      rmSync(file, { force: true });
    } catch (error) {
      // Whoever asked may have gone.
      if (!existsSync(file)) return;
      writeFileSync(file, error instanceof Error ? error.message : String(error));
      renameSync(file, file + FAILED);
    } finally {
      known.delete(name);
    }
  }

  function look(): void {
    for (const name of readdirSync(folder))
      if (!known.has(name) && !name.endsWith(FAILED)) void answer(name).catch(ignore);
  }

  // Requests that an earlier writer left behind are obsolete.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { stop: whenChanged(folder, () => tolerate(look)) };
}

function whenChanged(folder: string, look: () => void): () => void {
  const poll = () => {
    const timer = setInterval(look, LOOK_EVERY).unref();
    return () => clearInterval(timer);
  };
  try {
    const watcher = watch(folder, { persistent: false }, look);
    watcher.on('error', ignore);
    return () => watcher.close();
  } catch {
    // The system watches no more folders.
    return poll();
  }
}

function tolerate(work: () => void): void {
  try {
    work();
  } catch {
    // The folder was removed, or is full: whoever asks goes on without an answer.
  }
}

function ignore(): void {}

/** How an ask ended. `busy`: whoever writes the index does not answer; `gone`: nobody writes it any more. */
export type AskEnd = 'done' | 'busy' | 'gone';

export interface AskOptions {
  /** Milliseconds to wait; Infinity: as long as the writer lives. */
  readonly patience: number;
  /** Whether a process still writes the index. */
  readonly isKept: () => Promise<boolean>;
}

/** Asks the writer of an index. Rejects with `IndexError` when it could not do it. */
export async function askWriter(path: string, ask: Ask, { patience, isKept }: AskOptions): Promise<AskEnd> {
  const file = join(folderOf(path), `${ask}-${randomUUID()}`);
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  } catch {
    return 'busy';
  }
  try {
    for (let waited = 0; ; waited += ANSWER_LOOKED_EVERY) {
      await sleep(ANSWER_LOOKED_EVERY);
      if (existsSync(file + FAILED)) throw failureOf(file);
      if (!existsSync(file)) return 'done';
      if (waited % KEPT_LOOKED_EVERY === 0 && !(await isKept())) return 'gone';
      if (waited >= patience) return 'busy';
    }
  } finally {
    for (const end of ['', FAILED]) rmSync(file + end, { force: true });
  }
}

function failureOf(file: string): IndexError {
  const reason = readFileSync(file + FAILED, 'utf8');
  return new IndexError('other', `the process that keeps the index could not read the ledger: ${reason}`);
}

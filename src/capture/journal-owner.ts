import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Names a process so that another one can tell whether it still runs: the machine, the process id, and when the
 * process began (ids are used again). Part of a journal's file name, so that renaming the file claims it.
 */
export const JOURNAL_OWNER = /[0-9a-f]{12}-\d+-\d+/;

/** Milliseconds between two signs of life of a journal's writer. */
export const SIGN_OF_LIFE = 20_000;
/** Without one for so long a process of another machine counts as dead. */
const SILENCE = 5 * SIGN_OF_LIFE;

export function ownName(): string {
  return `${machine()}-${process.pid}-${beginOf(process.pid) ?? 0}`;
}

/**
 * Whether the process still runs.
 *
 * @param lastSign when its journal was last written or touched: all there is to judge a process of another machine by
 */
export function isAlive(name: string, lastSign: Date): boolean {
  const [where, pid, begin] = name.split('-');
  if (where !== machine()) return Date.now() - lastSign.getTime() < SILENCE;
  if (!isProcess(Number(pid))) return false;
  const began = beginOf(Number(pid));
  return began === null ? begin === '0' : `${began}` === begin;
}

/** Containers share neither process ids nor, mostly, names; machines that share a folder have names of their own. */
function machine(): string {
  return createHash('sha256').update(`${hostname()}\n${processNamespace()}`).digest('hex').slice(0, 12);
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function isProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Not ours to signal, but there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Clock ticks from the machine's start to that of the process; null where that is not known, or for a zombie. */
function beginOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold anything; the state follows it, the start time is the 20th field from there.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : Number(fields[19]);
  } catch {
    return null;
  }
}

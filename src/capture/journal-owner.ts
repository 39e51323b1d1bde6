import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Identifies a process so that another process can check whether it still runs: machine, process id, and start time
 * (ids are reused). Part of a journal's file name, so that renaming the file claims it.
 */
export const JOURNAL_OWNER = /[0-9a-f]{12}-\d+-\d+/;

/** Milliseconds between two heartbeats of a journal's writer. */
export const HEARTBEAT_INTERVAL = 20_000;
/** Without a heartbeat for this long, a process of another machine counts as dead. */
const HEARTBEAT_TIMEOUT = 5 * HEARTBEAT_INTERVAL;

export function ownerName(): string {
  return `${machine()}-${process.pid}-${beginOf(process.pid) ?? 0}`;
}

/**
 * Whether the process still runs.
 *
 * @param lastHeartbeat when its journal was last written or touched; the only evidence about a process of another machine
 */
export function isAlive(name: string, lastHeartbeat: Date): boolean {
  const [where, pid, begin] = name.split('-');
  if (where !== machine()) return Date.now() - lastHeartbeat.getTime() < HEARTBEAT_TIMEOUT;
  if (!isProcess(Number(pid))) return false;
  const began = beginOf(Number(pid));
  return began === null ? begin === '0' : `${began}` === begin;
}

/** Identifies the host and its process namespace: containers on one host have process ids of their own. */
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
    // The process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Clock ticks from the machine's start to the start of the process; null when unknown, or for a zombie. */
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

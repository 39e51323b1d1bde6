import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const running = new Set();
/** Clock ticks per second of /proc; 100 on every Linux that Node runs on. */
const TICKS = 100;

export const pathOf = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

/**
 * Starts a server with its output in a file, as in production, so that no event loop has to read it.
 * Resolves with the first JSON line that `isReady` accepts.
 */
export async function startServer({
  name,
  node = process.execPath,
  args,
  env = {},
  logFile,
  isReady = () => true,
}) {
  const log = openSync(logFile, 'w');
  const child = spawn(node, args, {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', NODE_NO_WARNINGS: '1', ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  running.add(child);
  let ended = null;
  child.once('exit', (code, signal) => {
    ended = signal ?? code;
    running.delete(child);
  });
  for (let waited = 0; ended === null && waited < 30_000; waited += 20) {
    const said = jsonLines(logFile).find(isReady);
    if (said !== undefined) return { name, child, pid: child.pid, said, stop: () => stop(child) };
    await sleep(20);
  }
  await stop(child);
  throw new Error(`${name} did not start (${ended}):\n${readFileSync(logFile, 'utf8').slice(-3000)}`);
}

function jsonLines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line.startsWith('{') ? [JSON.parse(line)] : [];
      } catch {
        return [];
      }
    });
}

/** SIGTERM, and SIGKILL if the process does not exit within ten seconds. */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(timer);
}

/** Ends everything this run started. */
export async function stopAll() {
  await Promise.all([...running].map(stop));
}

/** CPU time of a process so far, in milliseconds, user and system. */
export function cpuMs(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

/** Largest resident memory of a process so far, in bytes. */
export function peakRss(pid) {
  return statusBytes(pid, 'VmHWM');
}

/** Resident memory of a process, in bytes. */
export function rss(pid) {
  return statusBytes(pid, 'VmRSS');
}

function statusBytes(pid, name) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024;
}

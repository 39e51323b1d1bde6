// The receiver in a process of its own, with its memory usage.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { V8_FLAGS } from '../../scripts/v8-flags.mjs';
import { cpuMs, peakRss, rss } from '../lib/processes.mjs';

const MB = 1024 * 1024;

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** What the cluster files set beside the flags of the image. */
const FLAGS = '--max-old-space-size=192';
const MONITOR = fileURLToPath(new URL('loop-delay.mjs', import.meta.url));

export async function startReceiver(settings) {
  const delayFile = join(mkdtempSync(join(tmpdir(), 'loop-delay-')), 'ms');
  const child = spawn(process.execPath, [...V8_FLAGS, MAIN, 'serve'], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      NODE_NO_WARNINGS: '1',
      NODE_OPTIONS: `${FLAGS} --import ${MONITOR}`,
      MALLOC_ARENA_MAX: '2',
      LOOP_DELAY: delayFile,
      NODE_CONFIG: JSON.stringify({
        receiver: { host: '127.0.0.1', port: 0, drainDelay: 0 },
        admin: { host: '127.0.0.1', port: 0, tokens: { bench: 'bench-token-of-twenty-chars' } },
        sources: { default: { allowUnauthenticated: true, allow: ['127.0.0.0/8'] } },
        ...settings,
      }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let ended = null;
  child.once('exit', (code, signal) => {
    ended = signal ?? code;
  });
  const listening = await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the receiver ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      try {
        const entry = JSON.parse(line);
        if (entry.event === 'listening') resolve(entry);
        else if (entry.level === 'error' || entry.level === 'fatal') console.error(line.slice(0, 300));
      } catch {
        console.error(line);
      }
    });
  });
  return {
    publicUrl: listening.receiverUrl,
    adminUrl: listening.adminUrl,
    ended: () => ended,
    /** Megabytes. */
    rss: () => Math.round(rss(child.pid) / MB),
    peak: () => Math.round(peakRss(child.pid) / MB),
    /** Seconds. */
    cpu: () => cpuMs(child.pid) / 1000,
    /** Longest time the event loop was blocked, in ms, about three seconds after the start and later. */
    blocked: () => Number(readFileSync(delayFile, 'utf8')),
    async metric(name) {
      const text = await (await fetch(`${listening.adminUrl}/metrics`)).text();
      return Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)?.[1]);
    },
    async stop() {
      if (ended !== null) return;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await exited;
    },
  };
}

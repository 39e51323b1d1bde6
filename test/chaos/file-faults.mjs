// Preloaded into a replica: while CHAOS_FILE_CALLS's file holds a plan, single calls of node:fs/promises below
// CHAOS_STORE fail or take long, drawn from the plan's seed: { seed, failing, slow, slowMs }, shares from 0 to 1.
import { readFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = process.env.CHAOS_STORE ?? '';
let text = '';
let plan = null;
let state = 0;

const read = () => {
  let now = '';
  try {
    now = readFileSync(process.env.CHAOS_FILE_CALLS, 'utf8');
  } catch {
    // No file, no faults.
  }
  if (now === text) return;
  text = now;
  plan = now === '' ? null : JSON.parse(now);
  state = plan?.seed ?? 0;
};
read();
setInterval(read, 100).unref();

/** The numbers of test/support/random.ts, which cannot be imported here. */
const draw = () => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

const isOurs = (path) =>
  root !== '' && typeof path === 'string' && (path === root || path.startsWith(root + sep));

const disturbed = async (name, codes, call) => {
  if (plan === null) return call();
  const luck = draw();
  if (luck < plan.failing) {
    const code = codes[Math.floor(draw() * codes.length)];
    throw Object.assign(new Error(`${code}: injected, ${name}`), { code, syscall: name });
  }
  if (luck < plan.failing + plan.slow) await sleep(draw() * plan.slowMs);
  return call();
};

const FUNCTIONS = {
  mkdir: ['EIO', 'EDQUOT', 'ENOSPC'],
  link: ['EIO', 'EDQUOT', 'ENOSPC'],
  rename: ['EIO', 'EDQUOT', 'ENOSPC'],
  rm: ['EIO'],
  unlink: ['EIO'],
  lstat: ['EIO'],
  stat: ['EIO'],
  readdir: ['EMFILE', 'EIO'],
  opendir: ['EMFILE', 'EIO'],
};
for (const [name, codes] of Object.entries(FUNCTIONS)) {
  const real = fs[name];
  fs[name] = (path, ...more) =>
    isOurs(path) ? disturbed(name, codes, () => real(path, ...more)) : real(path, ...more);
}

const ours = new WeakSet();
const open = fs.open;
fs.open = async (path, ...more) => {
  if (!isOurs(path)) return open(path, ...more);
  const handle = await disturbed('open', ['EMFILE', 'ENFILE', 'EIO'], () => open(path, ...more));
  ours.add(handle);
  return handle;
};

const METHODS = {
  write: ['EIO', 'EDQUOT', 'ENOSPC'],
  sync: ['EIO', 'EDQUOT'],
  datasync: ['EIO'],
  read: ['EIO'],
};
const some = await open('/dev/null', 'r');
const prototype = Object.getPrototypeOf(some);
await some.close();
for (const [name, codes] of Object.entries(METHODS)) {
  const real = prototype[name];
  prototype[name] = function (...parts) {
    return ours.has(this) ? disturbed(name, codes, () => real.apply(this, parts)) : real.apply(this, parts);
  };
}

syncBuiltinESMExports();

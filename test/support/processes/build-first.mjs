import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

const BUILT = 'dist/main.js';
/** Written by the build itself. */
const VENDOR = 'src/operations/dashboard/vendor';
const SOURCES = [
  'src',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** Compiled code of the programs that the tests start, until the next build. */
const COMPILED = resolve('node_modules/.cache/compiled');

/** A file system in memory, where fsync costs nothing: on a shared disk, tests of file stores spend most of their time waiting for it. */
const IN_MEMORY = '/dev/shm';
const MIN_FREE_BYTES = 4 * 2 ** 30;

/**
 * Jest's global setup: builds when a source is newer than dist, so that no test ever starts an old build. Ends the run on a Node that the
 * program does not support, and on another line than TEST_NODE names.
 */
export default function buildFirst() {
  const line = process.env.TEST_NODE ?? '';
  if (line !== '' && !process.version.startsWith(`v${line}.`))
    throw new Error(`Jest runs on Node ${process.version}, not on ${line}`);
  if (process.env.TMPDIR === undefined && hasRoom(IN_MEMORY)) process.env.TMPDIR = IN_MEMORY;
  process.env.NODE_COMPILE_CACHE ??= COMPILED;
  const built = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (SOURCES.some((path) => newest(path) > built)) {
    rmSync(COMPILED, { recursive: true, force: true });
    const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
    if (status !== 0) throw new Error('the build failed');
  }
  const { status, stderr } = spawnSync(process.execPath, [BUILT, '--version'], { encoding: 'utf8' });
  if (status === 0) return;
  process.stderr.write(`\n${stderr}`);
  process.exit(2);
}

function hasRoom(folder) {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= MIN_FREE_BYTES;
}

/** The latest change of a file, or of a folder and anything below it: a file that was removed changes its folder. */
function newest(path) {
  const changed = statSync(path);
  if (!changed.isDirectory()) return changed.mtimeMs;
  if (path === VENDOR) return 0;
  return Math.max(changed.mtimeMs, ...readdirSync(path).map((name) => newest(`${path}/${name}`)));
}

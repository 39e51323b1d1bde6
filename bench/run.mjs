/**
 * The product and what it is compared with, in turn, on one machine, against one store stand-in.
 *
 *   npm run bench [-- --quick] [--only name,name] [--rounds n] [--seconds n] [--profile folder] [--no-write | --write]
 *
 * Prints Markdown; writes results/latest.md and latest.json after a run of everything, or with --write. docs/performance.md explains.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, homedir, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measure } from './lib/measure.mjs';
import { pathOf, stopAll } from './lib/processes.mjs';
import { ratioToLeast, summarise, table } from './lib/report.mjs';
import { SCENARIOS } from './lib/scenarios.mjs';
import { FILE_STORE, realStore, startStandIn } from './lib/stores.mjs';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    targets: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    profile: { type: 'string' },
    'no-write': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const rounds = Number(options.rounds ?? (options.quick ? 1 : 3));
const seconds = Number(options.seconds ?? (options.quick ? 2 : 6));
const scratch = mkdtempSync(join(tmpdir(), 'receiver-bench-'));

process.once('SIGINT', () => end(130));
process.once('SIGTERM', () => end(143));
try {
  await main();
  await end(0);
} catch (error) {
  console.error(error);
  await end(1);
}

async function end(code) {
  await stopAll();
  rmSync(scratch, { recursive: true, force: true });
  process.exit(code);
}

async function main() {
  const standIn = await startStandIn(scratch);
  const real = await realStore();
  const chosen = options.only?.split(',') ?? Object.keys(SCENARIOS);
  const results = [];
  const say = [`# Bench\n\n${machine()}\n`];
  console.log(say[0]);
  for (const name of chosen) {
    const scenario = limited(SCENARIOS[name]);
    if (scenario === undefined) throw new Error(`no scenario ${name}: ${Object.keys(SCENARIOS).join(', ')}`);
    const store = { file: FILE_STORE, real }[scenario.store] ?? (scenario.store ? null : standIn);
    if (store === null) {
      console.log(`## ${name}\n\nskipped: no S3 in the environment (S3_ENDPOINT and so on)\n`);
      continue;
    }
    const measured = await measureRounds(name, scenario, store);
    await store.empty?.();
    const rows = summarise(scenario, measured);
    const ratio = ratioToLeast(measured);
    const note =
      ratio === null
        ? ''
        : `\nIts CPU is ${ratio.toFixed(2)} times that of bare Express and the signed PUT loop together.\n`;
    const text = `## ${name}: ${scenario.title}\n\n${table(scenario, rows)}\n${note}`;
    say.push(text);
    console.log(text);
    results.push({ name, title: scenario.title, rows, measured });
  }
  if (options.write || (!options['no-write'] && options.only === undefined)) {
    writeFileSync(pathOf('results/latest.md'), say.join('\n'));
    writeFileSync(
      pathOf('results/latest.json'),
      `${JSON.stringify({ takenAt: new Date().toISOString(), machine: machine(), rounds, seconds, results }, null, 1)}\n`,
    );
  }
}

function limited(scenario) {
  if (scenario === undefined || options.targets === undefined) return scenario;
  const wanted = options.targets.split(',');
  return { ...scenario, targets: scenario.targets.filter((target) => wanted.includes(target)) };
}

/** Contestants take turns, and the order turns with each round, so that no one always runs on a warm or tired machine. */
async function measureRounds(name, scenario, store) {
  const measured = [];
  const node = scenario.node === '24' ? node24() : process.execPath;
  const count = Math.min(rounds, scenario.rounds ?? rounds);
  for (let round = 0; round < count; round += 1) {
    const turned = scenario.targets.map(
      (_, index) => scenario.targets[(index + round) % scenario.targets.length],
    );
    const results = {};
    for (const target of turned) {
      process.stderr.write(`${name}, round ${round + 1} of ${count}: ${target}\n`);
      results[target] = await attempt(target, {
        scenario,
        name: target,
        store,
        scratch,
        node,
        seconds,
        profile: options.profile ?? null,
      });
    }
    measured.push(results);
  }
  return measured;
}

/** A failing target is reported and left out; the others continue. */
async function attempt(target, order) {
  try {
    return await measure(order);
  } catch (error) {
    console.error(`${target} failed: ${String(error.message).slice(0, 300)}`);
    return null;
  }
}

/** Node 24 comes as an npm package and is kept in the cache folder. */
function node24() {
  const prefix = join(
    process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
    'transcript-receiver-ci',
    'node24',
  );
  const find = () =>
    existsSync(join(prefix, 'node_modules')) &&
    readdirSync(join(prefix, 'node_modules'), { recursive: true }).find((path) => path.endsWith('/bin/node'));
  if (!find())
    execFileSync('npm', ['install', '--prefix', prefix, '--no-save', '--no-audit', '--no-fund', 'node@24'], {
      stdio: 'ignore',
    });
  return join(prefix, 'node_modules', find());
}

function machine() {
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
  const { version } = JSON.parse(readFileSync(pathOf('../package.json'), 'utf8'));
  return `Transcript Receiver ${version}, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, load at the start ${load}. Sender, contestant and store share the machine: ratios count, not figures. ${rounds} rounds of ${seconds} s, medians.`;
}

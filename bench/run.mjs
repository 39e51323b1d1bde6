/**
 * The product and what it is compared with, in turn, on one machine, against one store stand-in.
 *
 *   npm run bench [-- --quick] [--only name,name] [--rounds n] [--seconds n] [--profile folder] [--no-write | --write]
 *
 * Prints Markdown; writes results/latest.md and latest.json after a run of everything, or with --write. docs/performance.md explains.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { cpus, homedir, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startContestant, warmUp } from './lib/measure.mjs';
import { pathOf, stopAll } from './lib/processes.mjs';
import { notes, summarise, table } from './lib/report.mjs';
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
const rounds = Number(options.rounds ?? (options.quick ? 1 : 5));
const seconds = Number(options.seconds ?? (options.quick ? 2 : 3));
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
    const text = `## ${name}: ${scenario.title}\n\n${table(scenario, rows)}\n${notes(name, measured, results)}`;
    say.push(text);
    console.log(text);
    results.push({ name, title: scenario.title, rows, measured });
  }
  if (options.write || (!options['no-write'] && options.only === undefined)) {
    mkdirSync(pathOf('results'), { recursive: true });
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

/** Contestants take turns, and the order turns with each round, so that no one always runs on a tired machine. */
async function measureRounds(name, scenario, store) {
  const order = { scenario, store, scratch, profile: options.profile ?? null };
  order.node = scenario.node === '26' ? node26() : process.execPath;
  const count = Math.min(rounds, scenario.rounds ?? rounds);
  const turns = Array.from({ length: count }, (_, round) => ({
    label: `${name}, round ${round + 1} of ${count}`,
    targets: scenario.targets.map((_, index) => scenario.targets[(index + round) % scenario.targets.length]),
  }));
  return scenario.kind === 'small' ? measureWarm(name, order, turns) : measureCold(order, turns);
}

/** All contestants run from the first round to the last, and are warm before the first. */
async function measureWarm(name, order, turns) {
  const { scenario, store } = order;
  const running = new Map();
  await reset(store, scenario);
  try {
    for (const target of scenario.targets) {
      await attempt(`${name}, warm-up`, target, async () => {
        const started = await startContestant({ ...order, name: target });
        running.set(target, started);
        await warmUp(started);
      });
    }
    const measured = [];
    for (const { label, targets } of turns) {
      const results = {};
      for (const target of targets.filter((each) => running.has(each)))
        results[target] = await attempt(label, target, () => running.get(target).measure(seconds, 500));
      measured.push(results);
    }
    return measured;
  } finally {
    await Promise.all([...running.values()].map(({ stop }) => stop()));
  }
}

/** Each contestant is started for each of its rounds: memory counts from the start. */
async function measureCold(order, turns) {
  const { scenario, store } = order;
  const measured = [];
  for (const { label, targets } of turns) {
    const results = {};
    for (const target of targets) {
      results[target] = await attempt(label, target, async () => {
        await reset(store, scenario);
        const started = await startContestant({ ...order, name: target });
        return started.measure(seconds, 2000).finally(started.stop);
      });
    }
    measured.push(results);
  }
  return measured;
}

function reset(store, { latency = 0, keep = '' }) {
  return store.reset({ latency, keep });
}

/** A failing target is reported and left out; the others continue. */
async function attempt(label, target, work) {
  process.stderr.write(`${label}: ${target}\n`);
  try {
    return await work();
  } catch (error) {
    console.error(`${target} failed: ${String(error.message).slice(0, 300)}`);
    return null;
  }
}

/** Node 26 comes as an npm package and is kept in the cache folder. */
function node26() {
  const prefix = join(
    process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
    'transcript-receiver-ci',
    'node26',
  );
  const find = () =>
    existsSync(join(prefix, 'node_modules')) &&
    readdirSync(join(prefix, 'node_modules'), { recursive: true }).find((path) => path.endsWith('/bin/node'));
  if (!find())
    execFileSync('npm', ['install', '--prefix', prefix, '--no-save', '--no-audit', '--no-fund', 'node@26'], {
      stdio: 'ignore',
    });
  return join(prefix, 'node_modules', find());
}

function machine() {
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
  const { version } = JSON.parse(readFileSync(pathOf('../package.json'), 'utf8'));
  return `Transcript Receiver ${version}, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, load at the start ${load}. Sender, contestant and store share the machine: ratios count, not figures. ${rounds} rounds of ${seconds} s, small bodies after a warm-up, medians.`;
}

/**
 * What a form of three parts and a duplicate cost beside a fresh callback: CPU of one process, in interleaved rounds.
 *
 *   node bench/callback-kinds.mjs [--store file] [--rounds 5] [--count 2000] [--connections 48] [--node path] [--profile folder] [dist/main.js ...]
 *
 * Several builds take turns within each round. Figures are medians; "of fresh" is the median of each round's ratio.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { generate } from './lib/measure.mjs';
import { cpuMs, pathOf, stopAll } from './lib/processes.mjs';
import { median } from './lib/report.mjs';
import { FILE_STORE, startStandIn } from './lib/stores.mjs';
import { PATH, TARGETS } from './lib/targets.mjs';

const { values, positionals } = parseArgs({
  options: {
    store: { type: 'string', default: 's3' },
    rounds: { type: 'string', default: '5' },
    count: { type: 'string', default: '2000' },
    connections: { type: 'string', default: '48' },
    node: { type: 'string', default: process.execPath },
    kinds: { type: 'string', default: 'fresh,form,duplicate' },
    profile: { type: 'string' },
  },
  allowPositionals: true,
});
const rounds = Number(values.rounds);
const count = Number(values.count);
const kinds = values.kinds.split(',');
const builds =
  positionals.length > 0 ? positionals.map((path) => resolve(path)) : [pathOf('../dist/main.js')];
const BODIES = {
  fresh: { kind: 'transcript', bytes: 10_240 },
  form: { kind: 'form', bytes: 10_240 },
  duplicate: { kind: 'transcript', bytes: 10_240 },
};
const DISTINCT = 200;
const scratch = mkdtempSync(join(tmpdir(), 'receiver-kinds-'));

try {
  const servers = [];
  for (const main of builds) servers.push({ main, ...(await start(main, servers.length)), results: [] });
  for (let round = -1; round < rounds; round += 1) {
    for (const server of servers) {
      const result = {};
      for (const kind of kinds) result[kind] = await measure(server, kind, round);
      // The first round warms up.
      if (round >= 0) server.results.push(result);
    }
    servers.reverse();
  }
  for (const server of servers.sort((a, b) => builds.indexOf(a.main) - builds.indexOf(b.main))) print(server);
} finally {
  await stopAll();
  rmSync(scratch, { recursive: true, force: true });
}

async function start(main, index) {
  const folder = join(scratch, `${index}`);
  mkdirSync(folder);
  const store = values.store === 'file' ? FILE_STORE : await startStandIn(folder);
  await store.reset({ keep: 'all' });
  const server = await TARGETS.product.start({
    store,
    scratch: folder,
    node: values.node,
    main,
    profile: values.profile ?? null,
  });
  return { server, store };
}

async function measure({ server, store }, kind, round) {
  const group = {
    port: server.port,
    path: PATH,
    headers: { ...TARGETS.product.headers },
    connections: Number(values.connections),
    count,
    body: BODIES[kind],
    idPrefix: kind === 'duplicate' ? 'same' : `${kind}${round + 1}`,
    ...(kind === 'duplicate' ? { distinct: DISTINCT } : {}),
  };
  const before = { cpu: cpuMs(server.pid), store: await store.counts() };
  const started = performance.now();
  const [{ statuses }] = await generate({ groups: [group], warmUpMs: 0, measureMs: null }, () => {});
  const seconds = (performance.now() - started) / 1000;
  if (statuses[200] !== count) throw new Error(`${kind}: answers ${JSON.stringify(statuses)}`);
  const after = { cpu: cpuMs(server.pid), store: await store.counts() };
  if (kind !== 'duplicate') await store.forget?.();
  if (kind !== 'duplicate' && kinds.includes('duplicate') && store.forget) await seed(server);
  const writes =
    after.store &&
    after.store.puts.artefact +
      after.store.puts.ledger -
      before.store.puts.artefact -
      before.store.puts.ledger;
  return {
    cpu: (after.cpu - before.cpu) / count,
    perSecond: count / seconds,
    writes: writes && writes / count,
  };
}

/** The stand-in keeps everything, so it is emptied between rounds, and the duplicates are sent anew. */
async function seed(server) {
  const group = {
    port: server.port,
    path: PATH,
    headers: { ...TARGETS.product.headers },
    connections: 8,
    count: DISTINCT,
    body: BODIES.duplicate,
    idPrefix: 'same',
    distinct: DISTINCT,
  };
  await generate({ groups: [group], warmUpMs: 0, measureMs: null }, () => {});
}

function print({ main, results }) {
  console.log(`\n${main}\n`);
  console.log('|  | CPU ms each | of fresh | callbacks/s | store writes each |\n|---|---:|---:|---:|---:|');
  for (const kind of kinds) {
    const each = (name) => median(results.map((result) => result[kind][name]));
    const ratio = median(results.map((result) => result[kind].cpu / (result.fresh ?? result[kind]).cpu));
    console.log(
      `| ${kind} | ${each('cpu').toFixed(3)} | ${ratio.toFixed(2)} | ${each('perSecond').toFixed(0)} | ${each('writes')?.toFixed(2) ?? '-'} |`,
    );
  }
}

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { V8_FLAGS } from '../../scripts/v8-flags.mjs';
import { pathOf, startServer } from './processes.mjs';

export const TOKEN = 'bench-token-of-32-characters-long';
const MAIN = pathOf('../dist/main.js');

/** How each contestant is started and addressed. `post` is what the generator needs to know of it. */
export const TARGETS = {
  product: { title: 'Transcript Receiver', start: startProduct, headers: { 'X-Bench-Token': TOKEN } },
  // BENCH_OTEL: the module to load first, `$register` of docs/tracing.md.
  'product-otel': {
    title: 'Transcript Receiver with OpenTelemetry',
    start: (given) => startProduct({ ...given, preload: process.env.BENCH_OTEL, more: telemetrySettings() }),
    headers: { 'X-Bench-Token': TOKEN },
  },
  // BENCH_BESIDE: the folder of another build, which is started with the flags of that one.
  'product-beside': {
    title: 'another build of Transcript Receiver',
    async start(given) {
      const folder = process.env.BENCH_BESIDE;
      const { V8_FLAGS: flags } = await import(`${folder}/scripts/v8-flags.mjs`);
      return startProduct({ ...given, main: `${folder}/dist/main.js`, flags });
    },
    headers: { 'X-Bench-Token': TOKEN },
  },
  'bare-express': { title: 'bare Express, stores nothing', start: reference('bare-express') },
  'bare-express-401': {
    title: 'bare Express, 401 by one header',
    start: reference('bare-express', { BENCH_TOKEN: TOKEN }),
    headers: { 'X-Bench-Token': TOKEN },
  },
  'express-put': { title: 'express.raw + SDK PutObject', start: reference('express-put') },
  'multer-s3': { title: 'multer + multer-s3', start: reference('multer-s3') },
  'lib-storage': { title: 'Express + AWS uploader (lib-storage)', start: reference('lib-storage') },
  tus: { title: '@tus/server + s3-store', start: reference('tus'), path: '/callbacks' },
  uploader: {
    title: 'AWS uploader alone, fed from memory',
    start: reference('sender-alone'),
    alone: 'uploader',
  },
  'put-loop': { title: 'signed PUT loop (limit)', start: reference('sender-alone'), alone: 'put-loop' },
  'part-loop': {
    title: 'signed PUT loop of 8 MiB parts (limit)',
    start: reference('sender-alone'),
    alone: 'part-loop',
  },
};

export const PATH = '/callbacks/default?id={id}&status=success';

/** What image and cluster files set beyond the defaults. */
const DEPLOYED = { nodeOptions: ['--max-old-space-size=192'], env: { MALLOC_ARENA_MAX: '2' } };

/**
 * The product with its defaults; only addresses, one credential and where it stores are set. With `deployed` its memory
 * is bounded as in the cluster files.
 */
async function startProduct({
  store,
  scratch,
  node,
  profile,
  preload,
  main = MAIN,
  flags = V8_FLAGS,
  more = {},
  deployed = false,
}) {
  const { nodeOptions, env } = deployed ? DEPLOYED : { nodeOptions: [], env: {} };
  const folder = join(scratch, 'data');
  const s3 = {
    endpoint: store.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    accessKeyId: store.key,
    secretAccessKey: store.secret,
  };
  if (store.kind === 'file') {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  const settings = {
    receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '5s' },
    admin: { host: '127.0.0.1', port: 0, tokens: { bench: TOKEN } },
    sources: {
      default: { credentials: { bench: { headers: [`X-Bench-Token: ${TOKEN}`] } }, maxBytes: '6GiB' },
    },
    store: store.kind === 'file' ? { url: `file:${folder}` } : { url: `s3://${store.bucket}/bench`, s3 },
    // To try a setting: BENCH_SETTINGS='{"log":{"level":"warn"}}'.
    ...JSON.parse(process.env.BENCH_SETTINGS ?? '{}'),
  };
  const server = await startServer({
    name: 'product',
    node,
    args: [
      ...flags,
      ...nodeOptions,
      ...(process.env.BENCH_NODE_OPTIONS?.split(' ') ?? []),
      ...(preload ? ['--import', preload] : []),
      ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []),
      main,
      'serve',
    ],
    env: { ...env, ...more, NODE_CONFIG: JSON.stringify(settings), AWS_EC2_METADATA_DISABLED: 'true' },
    logFile: join(scratch, 'product.log'),
    isReady: (line) => line.event === 'listening',
  });
  // Older builds call it publicUrl.
  const { publicUrl, receiverUrl = publicUrl, adminUrl } = server.said;
  // It listens before it has proven the store, and refuses callbacks until then.
  for (let waited = 0; (await fetch(`${receiverUrl}/readyz`)).status !== 200; waited += 20) {
    if (waited > 30_000) throw new Error('the product did not become ready');
    await sleep(20);
  }
  return { ...server, port: Number(new URL(receiverUrl).port), adminUrl };
}

/** OTEL_EXPORTER_OTLP_ENDPOINT and so on, for OpenTelemetry's own modules. */
function telemetrySettings() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_')));
}

function reference(name, more = {}) {
  return async ({ store, scratch, node }) => {
    const env = {
      BENCH_S3: store.endpoint,
      BENCH_BUCKET: store.bucket,
      BENCH_S3_KEY: store.key,
      BENCH_S3_SECRET: store.secret,
      ...more,
    };
    const server = await startServer({
      name,
      node,
      args: [pathOf(`references/${name}.mjs`)],
      env,
      logFile: join(scratch, `${name}.log`),
    });
    return { ...server, port: server.said.port };
  };
}

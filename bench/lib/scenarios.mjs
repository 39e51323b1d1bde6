const KB = 1024;
const MB = 1_000_000;
const GIB = 2 ** 30;

const SMALL_TARGETS = ['product', 'bare-express', 'express-put', 'multer-s3', 'put-loop'];
const form = (kind) => (target) => (target === 'multer-s3' ? 'form-one' : kind);

/**
 * What is measured. `body` may depend on the target, where a contestant understands one form only: multer-s3 gets the
 * same content as a multipart part, tus and the uploader the bare media.
 */
export const SCENARIOS = {
  'node26-json-10k': small('callbacks of 10 KB JSON, 48 connections, on Node 26', {
    bytes: 10 * KB,
    node: '26',
  }),
  'json-1k': small('callbacks of 1 KB JSON, 48 connections', {
    bytes: KB,
    targets: ['product', 'bare-express', 'put-loop'],
  }),
  'json-10k': small('callbacks of 10 KB JSON, 48 connections', { bytes: 10 * KB }),
  ...(process.env.BENCH_OTEL
    ? {
        'otel-json-10k': small('callbacks of 10 KB JSON, 48 connections, with and without OpenTelemetry', {
          bytes: 10 * KB,
          targets: ['product', 'product-otel'],
        }),
      }
    : {}),
  ...(process.env.BENCH_BESIDE ? Object.fromEntries(besideAnother()) : {}),
  'three-parts': small('multipart of three parts, 10 KB, 48 connections', {
    bytes: 10 * KB,
    body: () => 'form',
    targets: ['product', 'bare-express', 'express-put'],
  }),
  duplicates: small('10 KB JSON that is already stored, 48 connections', {
    bytes: 10 * KB,
    distinct: 500,
    keep: 'all',
    targets: ['product', 'bare-express'],
  }),
  refusals: {
    title: 'a flood of 10 KB without credentials on 48 connections, good callbacks on 4',
    kind: 'flood',
    bytes: 10 * KB,
    rounds: 3,
    targets: ['product', 'bare-express-401'],
  },
  'media-1g': large('1 GiB of media, one upload', { bytes: GIB, connections: 1, count: 1, rounds: 3 }),
  'media-5g': large('5 GiB of media, one upload', {
    bytes: 5 * GIB - 64 * KB,
    connections: 1,
    count: 1,
    rounds: 1,
    targets: ['product', 'part-loop'],
  }),
  'media-50': large('50 x 48 MB at once, store latency 300 ms', {
    bytes: 48 * MB,
    connections: 50,
    count: 50,
    latency: 300,
    rounds: 1,
    targets: ['product', 'multer-s3', 'lib-storage'],
  }),
  'file-json-10k': small('callbacks of 10 KB JSON into the file store, 48 connections', {
    bytes: 10 * KB,
    store: 'file',
    targets: ['product', 'bare-express'],
  }),
  'file-media-1g': large('1 GiB of media into the file store', {
    bytes: GIB,
    connections: 1,
    count: 1,
    rounds: 3,
    store: 'file',
    targets: ['product'],
  }),
  'rgw-json-10k': small('callbacks of 10 KB JSON into Ceph RGW, 48 connections', {
    bytes: 10 * KB,
    store: 'real',
    targets: ['product', 'express-put', 'multer-s3', 'put-loop'],
  }),
  'rgw-media-1g': large('1 GiB of media into Ceph RGW', {
    bytes: GIB,
    connections: 1,
    count: 1,
    store: 'real',
    rounds: 1,
  }),
  'node26-media-1g': large('1 GiB of media, one upload, on Node 26', {
    bytes: GIB,
    connections: 1,
    count: 1,
    rounds: 3,
    node: '26',
    targets: ['product', 'multer-s3', 'lib-storage'],
  }),
  'node26-media-50': large('50 x 48 MB at once, store latency 300 ms, on Node 26', {
    bytes: 48 * MB,
    connections: 50,
    count: 50,
    latency: 300,
    rounds: 1,
    node: '26',
    targets: ['product', 'lib-storage'],
  }),
};

function small(title, options) {
  return {
    title,
    kind: 'small',
    connections: 48,
    targets: SMALL_TARGETS,
    body: form('transcript'),
    ...options,
  };
}

function large(title, options) {
  const body = (target) =>
    ({ 'multer-s3': 'form-media', product: 'form-media', tus: 'tus' })[target] ?? 'media';
  const targets = ['product', 'multer-s3', 'lib-storage', 'uploader', 'tus', 'part-loop'];
  return { title, kind: 'large', targets, body, ...options };
}

/** This build beside another one. */
function besideAnother() {
  return ['24', '26'].map((node) => [
    `beside-node${node}`,
    small(`callbacks of 10 KB JSON, 48 connections, beside another build, on Node ${node}`, {
      bytes: 10 * KB,
      node,
      targets: ['product', 'product-beside', 'express-put'],
    }),
  ]);
}

/**
 * The same forms through our decoder and through others; prints in which ways they differ, with counts and an example.
 *
 *   node --import ./scripts/run-typescript.mjs bench/fuzz/differential.mjs [cases=20000] [seed=1]
 *
 * docs/decoder-differences.md says why ours is right in each.
 */
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { UndecodableError } from '../../src/content/decode-error.ts';
import { decodeBody } from '../../src/receiver/decode/decode-body.ts';
import { multipartTarget } from '../../test/fuzz/body-targets.ts';
import { BOUNDARY, chunksOf, formType } from '../../test/support/http/multipart.ts';
import { createRandom } from '../../test/support/random.ts';
import { RecordingSink } from '../../test/support/store/recording-sink.ts';

const require = createRequire(new URL('../package.json', import.meta.url));
const Busboy = require('@fastify/busboy');
const originalBusboy = createRequire(new URL('../../package.json', import.meta.url))('busboy');
const { formidable } = await import(require.resolve('formidable').replace('dist/index.cjs', 'src/index.js'));

const [cases = 20_000, seed = 1] = process.argv.slice(2).map(Number);
const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

/** Each gives the contents of the parts in their order, or null where it refuses. */
const parsers = {
  busboy: (body) =>
    viaBusboy(body, (sink) => originalBusboy({ headers, limits: { fieldSize: 1e6 } }).on('error', sink)),
  '@fastify/busboy': (body) => viaBusboy(body, (sink) => new Busboy({ headers }).on('error', sink)),
  formidable: viaFormidable,
  'undici FormData': viaFormData,
};

async function ours(body) {
  const sink = new RecordingSink();
  const described = { contentType: formType(), contentEncoding: null, contentLength: null, contents: [] };
  try {
    await decodeBody(described, chunksOf(body), sink, { maxBytes: 1e6, maxParts: 100 });
    return sink.items.map(({ bytes }) => bytes);
  } catch (error) {
    if (error instanceof UndecodableError) return null;
    throw error;
  }
}

function viaBusboy(body, create) {
  return new Promise((resolve) => {
    const parts = [];
    let failed = false;
    const done = () => resolve(failed ? null : parts.map((part) => Buffer.concat(part)));
    try {
      const parser = create(() => {
        failed = true;
        done();
      });
      parser.on('file', (_name, stream) => {
        const chunks = [];
        parts.push(chunks);
        stream.on('data', (chunk) => chunks.push(chunk));
        stream.on('error', () => {
          failed = true;
          done();
        });
      });
      parser.on('field', (_name, value) => parts.push([Buffer.from(value)]));
      parser.on('close', done).on('finish', done);
      parser.end(body);
      setTimeout(() => resolve('hangs'), 500).unref();
    } catch {
      resolve(null);
    }
  });
}

async function viaFormidable(body) {
  const parts = [];
  const form = formidable({ allowEmptyFiles: true, minFileSize: 0 });
  form.onPart = (part) => {
    const chunks = [];
    parts.push(chunks);
    part.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
  };
  const request = Object.assign(Readable.from([body]), {
    headers: { ...headers, 'content-length': `${body.length}` },
  });
  try {
    await Promise.race([form.parse(request), new Promise((_, fail) => setTimeout(fail, 500).unref())]);
    return parts.map((part) => Buffer.concat(part));
  } catch {
    return null;
  }
}

async function viaFormData(body) {
  try {
    const form = await new Response(body, { headers }).formData();
    const values = [...form.values()];
    return await Promise.all(
      values.map(async (value) => Buffer.from(typeof value === 'string' ? value : await value.arrayBuffer())),
    );
  } catch {
    return null;
  }
}

function difference(mine, theirs) {
  if (theirs === 'hangs') return 'never comes to an end';
  if (mine === null && theirs === null) return null;
  if (mine === null) return `accepts with ${theirs.length === 0 ? 'no' : 'some'} parts what we refuse`;
  if (theirs === null) return 'refuses what we accept';
  if (theirs.length < mine.length) return 'drops parts in silence';
  if (theirs.length > mine.length) return 'makes up parts';
  return mine.every((part, index) => part.equals(theirs[index])) ? null : 'gives other bytes';
}

const found = new Map();
for (let number = 0; number < cases; number += 1) {
  const { bytes } = multipartTarget.make(createRandom(seed, `multipart ${number}`));
  const mine = await ours(bytes);
  for (const [name, parse] of Object.entries(parsers)) {
    const kind = difference(mine, await parse(bytes));
    if (kind === null) continue;
    const key = `${name}: ${kind}`;
    const { count = 0, example = bytes } = found.get(key) ?? {};
    found.set(key, { count: count + 1, example: bytes.length < example.length ? bytes : example });
  }
}
console.log(`${cases} forms, seed ${seed}`);
for (const [key, { count, example }] of [...found].sort()) {
  console.log(
    `\n${key}: ${count}\n  ${JSON.stringify(example.toString('latin1').replaceAll(BOUNDARY, 'BOUNDARY'))}`,
  );
}
process.exit(0);

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rawClient } from '../support/http/raw-http.js';
import { segmentOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { until } from '../support/until.js';

/*
 * The promise of the product as a property: 2xx if and only if the store holds exactly the bytes that were
 * sent; otherwise nothing but a ledger line. Bodies may be whole, cut or broken, in any chunking.
 */

let service: RunningService;

beforeAll(async () => {
  service = await startService({ store: { partSize: '64KiB' }, limits: { maxConcurrentDeliveries: 1000 } });
});

afterAll(() => service.stop());

interface Part {
  readonly name: string;
  readonly fileName: string | null;
  readonly content: Buffer;
}

interface Plan {
  readonly parts: readonly Part[];
  readonly framing: 'sized' | 'chunked';
  readonly method: 'POST' | 'PUT';
  readonly pieces: 'one' | 'random' | 'bytes';
  /** Bytes cut off the end of the body; the connection is closed then. */
  readonly cut: number;
  readonly seed: number;
}

const text = fc.string({ maxLength: 300 }).map((value) => Buffer.from(value));
const large = fc.integer({ min: 0, max: 200_000 }).chain((size) =>
  fc.integer().map((seed) =>
    createHash('shake256', { outputLength: size || 1 })
      .update(String(seed))
      .digest(),
  ),
);
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    name: fc.constant('transcript'),
    fileName: fc.constant('t.json'),
    content: fc.json().map(Buffer.from),
  }),
  fc.record({
    name: fc.constantFrom('transcript.txt', 'transcript.srt'),
    fileName: fc.constantFrom(null, 'a.txt'),
    content: text,
  }),
  fc.record({
    name: fc.constantFrom('data', 'notes.bin'),
    fileName: fc.constantFrom('x.wav', null),
    content: large,
  }),
);
const plan: fc.Arbitrary<Plan> = fc.record({
  parts: fc.array(part, { maxLength: 4 }),
  framing: fc.constantFrom('sized', 'chunked'),
  method: fc.constantFrom('POST', 'PUT'),
  pieces: fc.constantFrom('one', 'random', 'bytes'),
  cut: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 50 }) },
  ),
  seed: fc.integer({ min: 1 }),
});

let jobs = 0;

describe('every delivery', () => {
  it('is acknowledged if and only if the store holds exactly its bytes', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (generated) => {
        jobs += 1;
        const jobId = `p${jobs}`;
        const status = await send(jobId, generated);
        if (generated.cut > 0) await expectNothingKept(jobId, status);
        else await expectEverythingKept(jobId, status, generated.parts);
      }),
      { numRuns: 120 },
    );
  });
});

async function expectEverythingKept(
  jobId: string,
  status: number | null,
  parts: readonly Part[],
): Promise<void> {
  expect(status).toBe(200);
  const [line] = await linesOf(jobId);
  expect(line?.items).toHaveLength(parts.length);
  for (const [n, item] of (line?.items ?? []).entries()) {
    const stored = await readFile(join(service.folder, item.key));
    expect(stored.equals(parts[n]?.content as Buffer)).toBe(true);
    expect(item).toMatchObject({
      size: stored.length,
      sha256: createHash('sha256').update(stored).digest('hex'),
    });
  }
}

/** A cut body is refused; when the sender is still there to hear it, with anything but 2xx. */
async function expectNothingKept(jobId: string, status: number | null): Promise<void> {
  if (status !== null) expect(status).toBeGreaterThanOrEqual(400);
  await until(async () => (await linesOf(jobId)).length > 0);
  expect((await linesOf(jobId)).map(({ outcome, items }) => ({ outcome, items }))).toEqual([
    { outcome: 'refused', items: [] },
  ]);
  expect(await visibleKeys(service.folder, `jobs/${jobId}/`)).toEqual([]);
}

/** Segments never change, so each is read once. */
type Lines = Awaited<ReturnType<typeof segmentOf>>;
const segments = new Map<string, Lines>();

async function linesOf(jobId: string): Promise<Lines> {
  for (const key of await visibleKeys(service.folder, 'ledger/')) {
    if (!segments.has(key)) segments.set(key, await segmentOf(service.folder, key));
  }
  return [...segments.values()].flat().filter((line) => line.jobId === jobId);
}

function encode(parts: readonly Part[]): Buffer {
  const chunks = parts.flatMap(({ name, fileName, content }) => [
    Buffer.from(`--b0undary\r\nContent-Disposition: form-data; name="${name}"`),
    Buffer.from(fileName === null ? '' : `; filename="${fileName}"`),
    Buffer.from('\r\nContent-Type: application/octet-stream\r\n\r\n'),
    content,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from('--b0undary--\r\n')]);
}

/** Sends the body piece by piece; resolves with the status, or null when the connection was cut before one. */
async function send(
  jobId: string,
  { parts, framing, method, pieces, cut, seed }: Plan,
): Promise<number | null> {
  const whole = encode(parts);
  const body = whole.subarray(0, Math.max(0, whole.length - cut));
  const client = await rawClient(service.publicUrl);
  await client.send(
    `${method} /callbacks/default?id=${jobId}&status=success HTTP/1.1\r\nHost: r\r\n` +
      `Content-Type: multipart/form-data; boundary=b0undary\r\n` +
      `${framing === 'sized' ? `Content-Length: ${whole.length}` : 'Transfer-Encoding: chunked'}\r\n\r\n`,
  );
  for (const piece of split(body, pieces, seed)) {
    if (framing === 'chunked') await client.send(`${piece.length.toString(16)}\r\n`);
    await client.send(piece);
    if (framing === 'chunked') await client.send('\r\n');
  }
  if (cut > 0) client.socket.end();
  else if (framing === 'chunked') await client.send('0\r\n\r\n');
  const answer = await client.answer().catch(() => null);
  client.close();
  return answer?.status ?? null;
}

function* split(body: Buffer, pieces: Plan['pieces'], seed: number): Generator<Buffer> {
  let state = seed;
  for (let at = 0; at < body.length; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    // Single bytes only at both ends: that is where the framing is.
    const edge = at < 300 || body.length - at < 300;
    const size = pieces === 'one' ? body.length : pieces === 'bytes' && edge ? 1 : 1 + (state % 40_000);
    yield body.subarray(at, at + size);
    at += size;
  }
}

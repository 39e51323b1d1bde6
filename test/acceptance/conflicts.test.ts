import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BOUNDARY, formBody, formType } from '../support/http/multipart.js';
import { rawClient } from '../support/http/raw-http.js';
import { visibleKeys } from '../support/ledger/ledger-of.js';
import { type RunningService, startService } from '../support/processes/running-service.js';

const PART = 64 * 1024;

let service: RunningService;

beforeAll(async () => {
  service = await startService({ store: { partSize: '64KiB' }, limits: { memoryBudget: '4MiB' } });
});

afterAll(() => service.stop());

interface Acknowledged {
  readonly outcome: string;
  readonly items: readonly { readonly kind: string; readonly key: string; readonly outcome: string }[];
}

type Framing = 'sized' | 'chunked';

/** Sends the form as a sender does that has its bytes piece by piece. */
async function deliver(jobId: string, body: Buffer, framing: Framing): Promise<Acknowledged> {
  const client = await rawClient(service.publicUrl);
  const length = framing === 'sized' ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked';
  await client.send(
    `POST /callbacks/default?id=${jobId}&status=success HTTP/1.1\r\nHost: x\r\nContent-Type: ${formType(BOUNDARY)}\r\n${length}\r\n\r\n`,
  );
  for (let at = 0; at < body.length; at += 8 * 1024) {
    const piece = body.subarray(at, at + 8 * 1024);
    await client.send(framing === 'sized' ? piece : chunk(piece));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (framing === 'chunked') await client.send('0\r\n\r\n');
  const answer = await client.answer();
  client.close();
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body) as Acknowledged;
}

function chunk(piece: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
}

const FRAMINGS: readonly Framing[] = ['sized', 'chunked'];
const SIZES = [
  ['smaller than a part, beside an attachment', (PART * 3) / 4, 'other', randomBytes(PART / 2)],
  ['of exactly a part, beside a transcript', PART, 'transcript.txt', Buffer.from('words')],
  ['of a byte more than a part, beside a transcript', PART + 1, 'transcript.txt', Buffer.from('words')],
] as const;

const CASES = SIZES.flatMap(([what, ...form]) =>
  FRAMINGS.flatMap((first) => FRAMINGS.map((again) => [what, first, again, form] as const)),
);

it.each(CASES)('a conflict of media %s, that comes %s and then %s is kept once', async (...given) => {
  const [, first, again, [size, name, beside]] = given;
  const jobId = `job-${randomBytes(6).toString('hex')}`;
  const formOf = (data: Buffer) =>
    formBody([
      { name: 'data', fileName: 'a.wav', body: data },
      { name, fileName: 'a.bin', body: beside },
    ]);
  const body = formOf(randomBytes(size));
  await deliver(jobId, formOf(Buffer.from('first')), 'sized');
  const one = await deliver(jobId, body, first);
  const two = await deliver(jobId, body, again);
  expect([one.outcome, two.outcome]).toEqual(['conflict', 'duplicate']);
  expect(two.items.map(({ key }) => key)).toEqual(one.items.map(({ key }) => key));
  const kept = (await visibleKeys(service.folder)).filter((key) =>
    key.startsWith(`jobs/${jobId}/conflicts/`),
  );
  expect(kept).toEqual([one.items[0]?.key]);
});

it('senders of one conflict in both framings at once leave one copy', async () => {
  const body = formBody([
    { name: 'data', fileName: 'a.wav', body: randomBytes((PART * 3) / 4) },
    { name: 'other', fileName: 'a.bin', body: randomBytes(PART / 2) },
  ]);
  await deliver('job-at-once', formBody([{ name: 'data', body: Buffer.from('first') }]), 'sized');
  const senders = Array.from({ length: 20 }, (_, n) =>
    deliver('job-at-once', body, n % 2 === 0 ? 'sized' : 'chunked'),
  );
  const media = (await Promise.all(senders)).flatMap(({ items }) =>
    items.filter(({ kind }) => kind === 'data'),
  );
  const outcomes = media.map(({ outcome }) => outcome).sort();
  expect(outcomes).toEqual(['conflict', ...Array<string>(19).fill('identical')]);
  const keys = await visibleKeys(service.folder);
  expect(keys.filter((key) => key.startsWith('jobs/job-at-once/conflicts/'))).toHaveLength(1);
});

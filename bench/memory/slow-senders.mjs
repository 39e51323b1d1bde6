// Transcripts beside slow uploads: how long each waits for its answer.
// node bench/memory/slow-senders.mjs [uploads] [bytes per second each] [seconds] [sized|chunked|imports] [pause]
// A refused upload is retried after `pause` milliseconds, 5000 by default.
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver } from './receiver.mjs';

const [uploads, rate, seconds] = [
  process.argv[2] ?? 12,
  process.argv[3] ?? 50_000,
  process.argv[4] ?? 90,
].map(Number);
const kind = process.argv[5] ?? 'sized';
const pause = Number(process.argv[6] ?? 5000);
const UPLOAD = 20_000_000;
const TRANSCRIPT = Buffer.from(
  JSON.stringify({ format: '2.9', job: {}, metadata: {}, results: ['x'.repeat(108_000)] }),
);

const folder = mkdtempSync(join(tmpdir(), 'slow-senders-'));
const receiver = await startReceiver({ store: { url: `file:${folder}` } });
const ends = Date.now() + seconds * 1000;
const outcomes = {};
const count = (name) => {
  outcomes[name] = (outcomes[name] ?? 0) + 1;
};

async function slowUpload(n) {
  for (let attempt = 0; Date.now() < ends; attempt++) {
    const answer = await trickle(`job-slow-${n}-${attempt}`);
    count(`upload ${answer}`);
    await sleep(pause);
  }
}

function target(job) {
  if (kind !== 'imports') {
    return { url: `${receiver.publicUrl}/callbacks/default?id=${job}&status=success`, headers: {} };
  }
  return {
    url: `${receiver.adminUrl}/admin/api/jobs/${job}/artefacts`,
    headers: {
      authorization: 'Bearer bench-token-of-twenty-chars',
      'content-type': 'multipart/form-data; boundary=b',
    },
    head: '--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
  };
}

/** Sends until it is answered, in steps of a tenth of a second. */
function trickle(job) {
  return new Promise((resolve) => {
    const { url, headers, head = '' } = target(job);
    const sending = request(url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'audio/wav',
        ...headers,
        ...(kind === 'sized' ? { 'content-length': UPLOAD } : {}),
      },
    });
    sending.write(head);
    let sent = 0;
    const timer = setInterval(() => {
      const piece = Math.min(rate / 10, UPLOAD - sent);
      if (Date.now() > ends) sending.destroy();
      else if (sent < UPLOAD && sending.writableLength < 1_000_000) sending.write(Buffer.alloc(piece, n++));
      sent += piece;
      if (sent >= UPLOAD) sending.end();
    }, 100);
    let n = 0;
    const done = (answer) => {
      clearInterval(timer);
      sending.destroy();
      resolve(answer);
    };
    sending.on('response', (response) => done(response.statusCode));
    sending.on('error', (error) => done(error.code));
  });
}

const times = [];
async function transcript(n) {
  const started = performance.now();
  const answer = await new Promise((resolve) => {
    const sending = request(`${receiver.publicUrl}/callbacks/default?id=job-t-${n}&status=success`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': TRANSCRIPT.length },
    });
    sending.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sending.on('error', (error) => resolve(error.code));
    sending.end(TRANSCRIPT);
  });
  count(`transcript ${answer}`);
  times.push(performance.now() - started);
}

const running = Array.from({ length: uploads }, (_, n) => slowUpload(n));
const transcripts = [];
let most = 0;
let waiters = 0;
for (let n = 0; Date.now() < ends; n++) {
  transcripts.push(transcript(n));
  await sleep(500);
  most = Math.max(most, await receiver.metric('transcript_receiver_memory_budget_used_bytes'));
  waiters = Math.max(waiters, await receiver.metric('transcript_receiver_memory_budget_waiters'));
}
await Promise.race([Promise.all(transcripts), sleep(10_000)]);
times.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    uploads,
    rate,
    kind,
    outcomes,
    unanswered: transcripts.length - times.length,
    p50: Math.round(times[Math.floor(times.length / 2)]),
    longest: Math.round(times.at(-1)),
    budgetMB: Math.round(most / 1e6),
    waiters,
    peakMB: receiver.peak(),
  }),
);
await Promise.all(running);
await receiver.stop();
rmSync(folder, { recursive: true, force: true });

// Many uploads at once over a slow store: does each succeed within the attempts of the service? (about 0, 15, 35 and 65 s
// after the first)
// node bench/memory/many-uploads.mjs [uploads] [megabytes each] [milliseconds per store request]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startReceiver } from './receiver.mjs';

const [uploads, megabytes, latency] = [
  process.argv[2] ?? 200,
  process.argv[3] ?? 20,
  process.argv[4] ?? 80,
].map(Number);
/** Milliseconds after the first attempt of a callback at which the service tries again, at the earliest. */
const ATTEMPTS = [0, 15_000, 30_000, 48_000, 66_000];
const PIECE = Buffer.alloc(65_536, 7);
const BYTES = megabytes * 1_000_000;

const server = spawn(process.execPath, [fileURLToPath(new URL('../lib/s3-stand-in.mjs', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(createInterface({ input: server.stdout }), 'line');
const { port, control } = JSON.parse(line);
const endpoint = `http://127.0.0.1:${port}`;
await fetch(`http://127.0.0.1:${control}/reset?latency=${latency}`);
process.env.AWS_ACCESS_KEY_ID = 'bench';
const receiver = await startReceiver({
  store: {
    url: 's3://bench',
    s3: {
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      accessKeyId: 'bench',
      secretAccessKey: 'benchsecret',
    },
  },
});
while ((await fetch(`${receiver.publicUrl}/readyz`)).status !== 200) await sleep(100);

function* pieces() {
  for (let left = BYTES; left > 0; left -= PIECE.length)
    yield PIECE.subarray(0, Math.min(left, PIECE.length));
}

function send(n) {
  return new Promise((resolve) => {
    const sending = request(`${receiver.publicUrl}/callbacks/default?id=job-${n}&status=success`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'audio/wav', 'content-length': BYTES },
    });
    const body = Readable.from(pieces());
    const done = (answer) => {
      body.destroy();
      sending.destroy();
      resolve(answer);
    };
    sending.on('response', (response) => done(response.statusCode));
    sending.on('error', (error) => done(error.code));
    body.pipe(sending);
  });
}

const started = performance.now();
const answers = {};
async function callback(n) {
  for (const [attempt, at] of ATTEMPTS.entries()) {
    await sleep(Math.max(0, at - (performance.now() - started)));
    const answer = await send(n);
    answers[answer] = (answers[answer] ?? 0) + 1;
    if (answer === 200) return { attempt: attempt + 1, seconds: (performance.now() - started) / 1000 };
  }
  return null;
}

const results = await Promise.all(Array.from({ length: uploads }, (_, n) => callback(n)));
const stored = results.filter((result) => result !== null);
const last = Math.max(...stored.map(({ seconds }) => seconds));
const byAttempt = ATTEMPTS.map((_, n) => stored.filter(({ attempt }) => attempt === n + 1).length);
console.log(
  JSON.stringify({
    uploads,
    megabytes,
    latency,
    stored: stored.length,
    byAttempt,
    answers,
    seconds: Math.round(last),
    megabytesPerSecond: Math.round((stored.length * megabytes) / last),
    peakMegabytes: receiver.peak(),
  }),
);
await receiver.stop();
server.kill('SIGKILL');

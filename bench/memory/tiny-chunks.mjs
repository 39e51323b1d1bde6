// One body in chunks of a single byte: what it costs in memory, CPU and time of the event loop.
// node bench/memory/tiny-chunks.mjs [bytes] [plain|json|form|parts|gzip|import]
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { startReceiver } from './receiver.mjs';

const bytes = Number(process.argv[2] ?? 8_000_000);
const kind = process.argv[3] ?? 'plain';

const form = (parts) => {
  const pieces = parts.map(
    ([name, content]) =>
      `--b\r\ncontent-disposition: form-data; name="${name}"; filename="${name}"\r\n\r\n${content}\r\n`,
  );
  return Buffer.from(`${pieces.join('')}--b--\r\n`);
};
const noise = (length) => {
  const text = Buffer.alloc(length);
  for (let at = 0, state = 1; at < length; at++) {
    state = (state * 48271) % 2147483647;
    text[at] = state;
  }
  return text;
};
const FORM = { 'content-type': 'multipart/form-data; boundary=b' };
const BODIES = {
  plain: () => [noise(bytes), { 'content-type': 'audio/wav' }],
  json: () => [Buffer.from(JSON.stringify(['x'.repeat(bytes)])), { 'content-type': 'application/json' }],
  form: () => [form([['data', 'x'.repeat(bytes)]]), FORM],
  parts: () => [form(Array.from({ length: 90 }, (_, n) => [`part${n}`, 'x'.repeat(bytes / 90)])), FORM],
  gzip: () => [gzipSync(noise(bytes)), { 'content-type': 'audio/wav', 'content-encoding': 'gzip' }],
  import: () => [
    form([['file', 'x'.repeat(bytes)]]),
    { ...FORM, authorization: 'Bearer bench-token-of-twenty-chars' },
  ],
};
const [body, headers] = BODIES[kind]();

const folder = mkdtempSync(join(tmpdir(), 'tiny-chunks-'));
const receiver = await startReceiver({ store: { url: `file:${folder}` } });
const base = kind === 'import' ? receiver.adminUrl : receiver.publicUrl;
const path =
  kind === 'import' ? '/admin/api/jobs/tiny/artefacts' : '/callbacks/default?id=tiny&status=success';

/** A warm-up of ordinary callbacks, so that rest is what a running receiver needs. */
for (let n = 0; n < 500; n++) {
  const url = `${receiver.publicUrl}/callbacks/default?id=warm${n}&status=success`;
  await (
    await fetch(url, {
      method: 'POST',
      body: `{"n":"${'x'.repeat(10_000)}"}`,
      headers: { 'content-type': 'application/json' },
    })
  ).text();
}
await sleep(5500);
const rest = receiver.rss();
const cpu = receiver.cpu();
let peak = rest;
const watch = setInterval(() => {
  if (receiver.ended() === null) peak = Math.max(peak, receiver.rss());
}, 20);

const started = performance.now();
const answer = await new Promise((resolve) => {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (data) => {
    received += data;
    if (received.includes('\r\n\r\n')) resolve(received.split('\r\n')[0]);
  });
  socket.on('error', (error) => resolve(error.code));
  socket.on('close', () => resolve('closed'));
  const lines = Object.entries({ host: 'bench', 'transfer-encoding': 'chunked', ...headers });
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`);
  const chunk = (from, to) => {
    const wire = Buffer.alloc((to - from) * 6);
    for (let at = from; at < to; at++) {
      wire.write('1\r\n', (at - from) * 6, 'latin1');
      wire[(at - from) * 6 + 3] = body[at];
      wire.write('\r\n', (at - from) * 6 + 4, 'latin1');
    }
    return wire;
  };
  let at = 0;
  const pump = () => {
    while (at < body.length) {
      const to = Math.min(body.length, at + 100_000);
      const more = socket.write(chunk(at, to));
      at = to;
      if (!more) return void socket.once('drain', pump);
    }
    socket.write('0\r\n\r\n');
  };
  pump();
});
clearInterval(watch);
await sleep(500);
console.log(
  JSON.stringify({
    kind,
    bytes: body.length,
    answer,
    seconds: Math.round((performance.now() - started) / 100) / 10,
    restMB: rest,
    aboveRestMB: peak - rest,
    blockedMs: receiver.ended() === null ? receiver.blocked() : null,
    cpuSeconds: receiver.ended() === null ? Math.round((receiver.cpu() - cpu) * 10) / 10 : null,
    ended: receiver.ended(),
  }),
);
await receiver.stop();
rmSync(folder, { recursive: true, force: true });

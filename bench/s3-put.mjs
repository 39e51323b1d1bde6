// What one small create costs: CPU of this process per put, and puts per second, against the discarding stand-in.
// npm run build && node bench/s3-put.mjs [seconds] [inFlight] [bytes]
import { spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const { openStore } = await import(process.env.STORE_MODULE ?? '../dist/store/open-store.js');
const [seconds = 5, inFlight = 48, bytes = 10_240] = process.argv.slice(2).map(Number);

const server = spawn(process.execPath, [fileURLToPath(new URL('lib/s3-stand-in.mjs', import.meta.url))]);
const [line] = await once(server.stdout, 'data');
const body = randomBytes(bytes);

for (const known of [false, true]) {
  const s3 = {
    endpoint: `http://127.0.0.1:${JSON.parse(line).port}`,
    region: 'us-east-1',
    forcePathStyle: true,
    accessKeyId: 'bench',
    secretAccessKey: 'benchsecret',
  };
  const store = await openStore({ url: 's3://bench/prefix', s3 });
  const metadata = {
    'job-id': 'abcdefghij',
    kind: 'transcript.json-v2',
    status: 'success',
    source: 'default',
  };
  if (known) metadata.sha256 = hash('sha256', body);
  await load(store, metadata, 1);
  const cpu = process.cpuUsage();
  const started = performance.now();
  const puts = await load(store, metadata, seconds);
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    JSON.stringify({
      sha256: known ? 'known' : 'computed',
      putsPerSecond: Math.round(puts / ((performance.now() - started) / 1000)),
      cpuMsPerPut: Number(((user + system) / 1000 / puts).toFixed(4)),
    }),
  );
  await store.close();
}
server.kill();

async function load(store, metadata, duration) {
  const end = performance.now() + duration * 1000;
  let puts = 0;
  const worker = async (id) => {
    for (let n = 0; performance.now() < end; n += 1, puts += 1)
      await store.create(`jobs/job-${id}-${n}/transcript.json`, body, {
        contentType: 'application/json',
        metadata,
      });
  };
  await Promise.all(Array.from({ length: inFlight }, (_, id) => worker(id)));
  return puts;
}

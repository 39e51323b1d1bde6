import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.js';
import { BALANCERS, type Balancer, startBalancer } from '../support/http/balancer.js';
import { largeBody, sha256OfFile } from '../support/http/large-body.js';
import { send } from '../support/http/send.js';
import { visibleKeys } from '../support/ledger/ledger-of.js';
import { CREDENTIAL, GUARDED, type Replicas, startReplicas } from '../support/processes/replicas.js';
import { until } from '../support/until.js';

/* Large bodies through real balancers: unbuffered, byte-exact, in flat memory, and nothing half when a replica dies. */

const MEDIA = { ...CREDENTIAL, 'Content-Type': 'application/octet-stream' };

let replicas: Replicas;

beforeAll(async () => {
  replicas = await startReplicas({
    sources: { default: { ...GUARDED, contents: ['data'] } },
  });
});

afterAll(() => replicas?.stop());

/** Largest resident set of a process so far, in MiB. */
function peakMemory(pid: number): number {
  const [, kilobytes] = /VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** Index of the replica that is receiving something, by its own count; null when none is. */
async function busyReplica(): Promise<number | null> {
  for (const index of [0, 1]) {
    const metrics = await (await fetch(`${replicas.at(index).adminUrl}/metrics`)).text();
    if (/^transcript_receiver_deliveries_in_flight(\{[^}]*\})? [1-9]/m.test(metrics)) return index;
  }
  return null;
}

/** Unfinished writes of the artefacts of a job. Canaries and segments of the ledger are written beside them. */
async function unfinished(jobId: string): Promise<number> {
  const names = await readdir(path.join(replicas.folder, '.tmp')).catch(() => []);
  return names.filter((name) => name.startsWith(encodeURIComponent(`jobs/${jobId}/`))).length;
}

describe.each(BALANCERS)('through %s', (kind) => {
  let balancer: Balancer;

  beforeAll(async () => {
    balancer = await startBalancer(kind, { replicas: replicas.addresses });
  });

  afterAll(() => balancer?.stop());

  it('a gigabyte arrives byte-exact, in memory that does not grow with it', async () => {
    const body = largeBody(1024);
    const target = `/callbacks/default?id=gigabyte-${kind}&status=success`;
    const { outgoing, answer } = send(balancer.url, { path: target, headers: MEDIA });
    await pipeline(Readable.from(body.chunks()), outgoing);
    const { status, json } = await answer;
    expect(status).toBe(200);
    const sha256 = body.sha256();
    expect(json.items).toMatchObject([{ size: body.bytes, sha256 }]);
    const key = `jobs/gigabyte-${kind}/data`;
    expect(await sha256OfFile(path.join(replicas.folder, key))).toBe(sha256);
    const peaks = [replicas.at(0).pid, replicas.at(1).pid, balancer.pid].map(peakMemory);
    console.log(`${kind}: peak memory of replicas and balancer ${peaks.map(Math.round).join(', ')} MiB`);
    expect(Math.max(...peaks)).toBeLessThan(512);
    const store = await openStore({ url: `file:${replicas.folder}` });
    await store.delete(key);
    await store.close();
  }, 180_000);

  it('the receiver has a body in hands while its sender still sends', async () => {
    const target = `/callbacks/default?id=unbuffered-${kind}&status=success`;
    const { outgoing, answer } = send(balancer.url, { path: target, headers: MEDIA });
    outgoing.write(Buffer.alloc(1024 * 1024));
    await until(async () => (await busyReplica()) !== null);
    outgoing.end('the end');
    expect((await answer).status).toBe(200);
  });

  it('a replica killed in the middle leaves nothing half, and the sender learns of it and can come again', async () => {
    const jobId = `killed-${kind}`;
    const target = `/callbacks/default?id=${jobId}&status=success`;
    const { outgoing, answer } = send(balancer.url, { path: target, headers: MEDIA });
    // More than a part: something lies in the store already when the replica dies.
    outgoing.write(Buffer.alloc(24 * 1024 * 1024, 'a'));
    await until(async () => (await unfinished(jobId)) > 0);
    const victim = (await busyReplica()) ?? 0;
    await replicas.at(victim).destroy();
    const outcome = await answer.then(
      ({ status }) => status,
      () => 'connection lost',
    );
    expect([502, 'connection lost']).toContain(outcome);
    outgoing.destroy();
    expect(await visibleKeys(replicas.folder, `jobs/${jobId}`)).toEqual([]);

    const body = largeBody(24);
    const again = send(balancer.url, { path: target, headers: MEDIA });
    await pipeline(Readable.from(body.chunks()), again.outgoing);
    expect((await again.answer).status).toBe(200);
    expect(await sha256OfFile(path.join(replicas.folder, `jobs/${jobId}/data`))).toBe(body.sha256());

    expect(await unfinished(jobId)).toBe(1);
    const store = await openStore({ url: `file:${replicas.folder}` });
    await store.sweepUploads(new Date(Date.now() + 3_600_000));
    await store.close();
    expect(await unfinished(jobId)).toBe(0);
    await replicas.start(victim);
  });
});

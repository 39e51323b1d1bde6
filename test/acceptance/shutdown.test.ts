import { afterAll, describe, expect, it } from '@jest/globals';
import { isAccess, type LedgerLine } from '../../src/domain/delivery.js';
import { rawClient } from '../support/http/raw-http.js';
import { ledgerOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { type ReceiverProcess, startReady } from '../support/processes/receiver-process.js';
import { startFaultProxy } from '../support/store/fault-proxy.js';
import { startS3StandIn } from '../support/store/s3-stand-in.js';
import { standInS3 } from '../support/store/stand-in-store.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const TOKEN = 'a-token-of-good-length';

/* All at the same time, each with a receiver of its own: they wait for its start and its end. */

interface Place {
  readonly receiver: ReceiverProcess;
  /** Folder of its store. */
  readonly folder: string;
}

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function startOn(store: object, drainDelay: string, drainDeadline: string): Promise<ReceiverProcess> {
  const receiver = await startReady({
    receiver: { host: '127.0.0.1', port: 0, drainDelay, drainDeadline },
    admin: { port: 0, tokens: { tester: TOKEN } },
    store,
  });
  ends.push(receiver.destroy);
  return receiver;
}

async function start(drainDelay: string, drainDeadline: string): Promise<Place> {
  const { path, remove } = await temporaryFolder();
  ends.push(remove);
  return { receiver: await startOn({ url: `file:${path}` }, drainDelay, drainDeadline), folder: path };
}

/** A receiver whose store takes what an operator imports only once it is let go: a sender that is silent is cut off at a shutdown. */
async function startHoldingImports() {
  const server = await startS3StandIn();
  ends.push(server.close);
  const proxy = await startFaultProxy(server.endpoint);
  ends.push(proxy.close);
  let held = 0;
  proxy.fault = ({ method, url }) => {
    if (method !== 'PUT' || !url.includes('/jobs/imported/')) return null;
    held += 1;
    return { kind: 'delay', ms: 600_000 };
  };
  const s3 = { ...standInS3({ endpoint: proxy.url }), requestTimeout: '10m', retries: 0 };
  const receiver = await startOn({ url: 's3://bucket/prefix', s3 }, '0s', '60s');
  return { receiver, server, held: () => held, letGo: proxy.endFaults };
}

/** A delivery whose body is half there: one part's worth sent, the rest to come. */
async function beginDelivery({ receiver }: Pick<Place, 'receiver'>, id: string, size: number) {
  const client = await rawClient(receiver.publicUrl);
  await client.send(
    `POST /callbacks/default?id=${id}&status=success HTTP/1.1\r\nHost: r\r\nContent-Length: ${size}\r\nExpect: 100-continue\r\n\r\n`,
  );
  expect((await client.answer()).status).toBe(100);
  await client.send('x'.repeat(size - 1));
  return client;
}

/** An import whose body is on its way as a whole. */
async function sendImport({ receiver }: Pick<Place, 'receiver'>, id: string) {
  const form = [
    '--b\r\nContent-Disposition: form-data; name="data"; filename="a.wav"\r\n\r\n',
    'x'.repeat(10_000),
    '\r\n--b--\r\n',
  ].join('');
  const client = await rawClient(receiver.adminUrl);
  await client.send(
    `POST /admin/api/jobs/${id}/artefacts HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer ${TOKEN}\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${form.length}\r\n\r\n${form}`,
  );
  return client;
}

const erase = ({ receiver }: Pick<Place, 'receiver'>, id: string) =>
  fetch(`${receiver.adminUrl}/admin/api/jobs/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${TOKEN}` },
  });

describe('SIGTERM', () => {
  it.concurrent('leaves it serving during the drain delay, but not ready', async () => {
    const { receiver } = await start('1h', '60s');
    receiver.signal('SIGTERM');
    await until(async () => (await fetch(`${receiver.publicUrl}/readyz`)).status === 503);
    const response = await fetch(`${receiver.publicUrl}/callbacks/default?id=late&status=success`, {
      method: 'POST',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('connection')).toBe('close');
  });

  it.concurrent("is not needed when the terminal is closed: SIGHUP, also when it comes twice, finishes deliveries and operators' changes in flight, starts no new ones, and records them", async () => {
    const place = await startHoldingImports();
    const { receiver, server, held, letGo } = place;
    const delivery = await beginDelivery(place, 'underway', 1000);
    const importing = await sendImport(place, 'imported');
    await until(() => held() > 0);
    receiver.signal('SIGHUP');
    await until(() => receiver.log.some(({ event }) => event === 'draining'));
    receiver.signal('SIGHUP');
    await until(async () => (await erase(place, 'late')).status === 503);
    expect(await (await erase(place, 'late')).json()).toMatchObject({ code: 'draining' });
    await until(async () => (await fetch(`${receiver.publicUrl}/readyz`).catch(() => null)) === null);
    await delivery.send('x');
    const answer = await delivery.answer();
    expect(answer.status).toBe(200);
    expect(answer.headers.connection).toBe('close');
    await until(async () => (await erase(place, 'late').catch(() => null)) === null);
    letGo();
    expect((await importing.answer()).status).toBe(200);
    expect(await receiver.ended).toBe(0);
    const within = (folder: RegExp) => [...server.state.objects].filter(([key]) => folder.test(key));
    expect(
      within(/^prefix\/jobs\/\w/)
        .map(([key]) => key)
        .sort(),
    ).toEqual(['prefix/jobs/imported/data', 'prefix/jobs/underway/data']);
    const lines = within(/^prefix\/ledger\/\w/)
      .flatMap(([, { body }]) => body.toString().trim().split('\n'))
      .map((line) => JSON.parse(line) as LedgerLine);
    expect(lines.filter((line) => !isAccess(line) && line.jobId !== 'late')).toMatchObject([
      { jobId: 'underway', origin: 'callback', outcome: 'stored' },
      { jobId: 'imported', origin: 'import' },
    ]);
  });

  it.concurrent('aborts deliveries at the deadline, stores nothing of them, and exits 0', async () => {
    const place = await start('0s', '300ms');
    const { receiver, folder } = place;
    const client = await beginDelivery(place, 'stuck', 20 * 1024 * 1024);
    receiver.signal('SIGTERM');
    expect(await receiver.ended).toBe(0);
    client.close();
    expect(await visibleKeys(folder, 'jobs/')).toEqual([]);
    expect((await ledgerOf(folder)).map(({ jobId, outcome, reason }) => [jobId, outcome, reason])).toEqual([
      ['stuck', 'refused', 'draining'],
    ]);
  });

  it.concurrent('ends at once at a second signal', async () => {
    const place = await start('0s', '60s');
    const { receiver } = place;
    const client = await beginDelivery(place, 'stuck', 1000);
    receiver.signal('SIGTERM');
    await until(() => receiver.log.some(({ event }) => event === 'draining'));
    receiver.signal('SIGTERM');
    expect(await receiver.ended).toBe(1);
    client.close();
  });
});

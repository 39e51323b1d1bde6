import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ledgerOf } from '../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback, sendForm } from '../support/processes/admin-api.js';
import { sendMendable } from '../support/processes/mendable-callback.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../support/recovery/lost-jobs.js';
import { until } from '../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TRANSCRIPT = JSON.stringify({ format: '2.9', metadata: {}, results: [] });
const BROKEN = '{"broken';

let lost: LostJobs;
let service: RunningService;
let api: AdminApi;

beforeEach(async () => {
  lost = await lostJobs();
  service = await startService({ sources: { default: {} }, ...lost.settings });
  api = adminApi(service);
});

afterEach(async () => {
  await service.stop();
  await lost.simulator.close();
});

/** Another replica on the same store; it has read nothing before. */
async function onOtherReplica<T>(work: (other: RunningService) => Promise<T>): Promise<T> {
  const other = await startService({ sources: { default: {} }, store: { url: `file:${service.folder}` } });
  return work(other).finally(() => other.stop());
}

async function breakBody(jobId: string): Promise<string> {
  const { status, json } = await sendCallback(service, `id=${jobId}&status=success`, BROKEN, JSON_TYPE);
  expect(status).toBe(202);
  return String(json.deliveryId);
}

const bodiesOf = async (jobId: string, from = api) =>
  (await from.get(`/quarantine?job=${jobId}&state=all`)).body.quarantine as Record<string, unknown>[];

/** State of the only body of each job, as a new replica sees it, and as the verdict counts it. */
async function stateOf(...jobIds: string[]) {
  return onOtherReplica(async (other) => {
    const bodies = await Promise.all(jobIds.map((jobId) => bodiesOf(jobId, adminApi(other))));
    const { quarantine, verdict, failing } = (await adminApi(other).get('/health')).body;
    const topics = verdict.issues.map(({ topic }: { topic: string }) => topic);
    return {
      states: bodies.map(([body]) => body?.state),
      quarantine,
      warns: topics.includes('quarantine'),
      failing,
    };
  });
}

const waiting = (count: number) => ({
  states: Array(count).fill('waiting'),
  quarantine: { waiting: count, waitingBytes: count * BROKEN.length, released: 0, settled: 0 },
  warns: true,
  failing: {},
});
const settled = (count: number) => ({
  states: Array(count).fill('settled'),
  quarantine: { waiting: 0, waitingBytes: 0, released: 0, settled: count },
  warns: false,
  failing: {},
});
const WAITING = waiting(1);
const SETTLED = settled(1);

describe('a quarantined body', () => {
  it('is settled on every replica by a callback, a refetch, a replay, an import of any kind, and an acknowledgement', async () => {
    const ways: ((id: string) => Promise<unknown>)[] = [
      (id) => sendCallback(service, `id=${id}&status=success`, TRANSCRIPT, JSON_TYPE),
      async (id) => api.post(`/jobs/${id}/refetch`).expect(200),
      async (id) => {
        const { body } = await api.post('/replays').send({ selector: { kind: 'refetch', jobs: [id] } });
        await until(async () => (await api.get(`/replays/${body.replayId}`)).body.state === 'done');
      },
      async (id) => {
        const form = new FormData();
        form.append('jobinfo', new Blob(['{"id":"x"}']));
        expect((await sendForm(api.post(`/jobs/${id}/artefacts`), form)).status).toBe(200);
      },
      async (id) => api.post(`/jobs/${id}/acknowledge`).send({ reason: 'not needed' }).expect(200),
    ];
    const ids = await Promise.all(ways.map(() => lost.lose()));
    for (const id of ids) await breakBody(id);
    expect(await stateOf(...ids)).toEqual(waiting(ids.length));
    for (const [n, settle] of ways.entries()) await settle(ids[n] ?? '');
    expect(await stateOf(...ids)).toEqual(settled(ids.length));
    for (const id of ids) {
      const [body] = await bodiesOf(id);
      expect((await api.get(`/quarantine/${body?.deliveryId}/body`)).body.toString()).toBe(BROKEN);
    }
  });

  it('that only repeats what was stored before does not wait', async () => {
    await sendCallback(service, 'id=again&status=success', TRANSCRIPT, JSON_TYPE);
    await breakBody('again');
    expect(await stateOf('again')).toEqual(SETTLED);
  });

  it('waits while its job has something else only, and when it comes after an acknowledgement', async () => {
    await sendCallback(service, 'id=other&status=success', '{"job":{"id":"other"}}', JSON_TYPE);
    await api.post('/jobs/other/acknowledge').send({ reason: 'seen' }).expect(200);
    await breakBody('other');
    expect(await stateOf('other')).toEqual(WAITING);
  });

  it('that is missing from the store is listed with what its line says, until it is dismissed or its job acknowledged', async () => {
    const id = await breakBody('gone');
    await breakBody('gone-too');
    await rm(join(service.folder, 'quarantine'), { recursive: true });
    const [body] = await bodiesOf('gone');
    expect(body).toMatchObject({
      deliveryId: id,
      jobId: 'gone',
      state: 'waiting',
      reason: 'json-invalid',
      detail: expect.stringMatching(/missing from the store/),
    });
    const { body: release } = await api.post(`/quarantine/${id}/release`);
    expect(release).toMatchObject({ status: 404, detail: expect.stringMatching(/or dismiss it/) });
    const reason = 'not needed';
    for (const [jobId, path, by] of [
      ['gone', `/quarantine/${id}/dismiss`, 'dismissed'],
      ['gone-too', '/jobs/gone-too/acknowledge', 'acknowledged'],
    ] as const) {
      await api.post(path).send({ reason }).expect(200);
      const settlement = { by, actor: 'tester', reason };
      expect((await bodiesOf(jobId))[0]).toMatchObject({ state: 'settled', settlement });
    }
  });

  it('leaves the verdict as it was when its release fails', async () => {
    await breakBody('b1');
    const before = await stateOf('b1');
    const id = String((await bodiesOf('b1'))[0]?.deliveryId);
    expect((await api.post(`/quarantine/${id}/release`)).status).toBe(409);
    const { body } = await api.post('/replays').send({ selector: { kind: 'release' }, reason: 'once more' });
    await until(async () => (await api.get(`/replays/${body.replayId}`)).body.state === 'done');
    expect((await api.get(`/replays/${body.replayId}`)).body).toMatchObject({ failed: 1 });
    expect(await stateOf('b1')).toEqual(before);
    expect(await ledgerOf(service.folder)).toContainEqual(
      expect.objectContaining({ jobId: 'b1', outcome: 'release-failed', actor: 'tester' }),
    );
  });
});

describe('a dismissal', () => {
  it('needs a reason, is recorded with who, and keeps the body', async () => {
    const id = await breakBody('d1');
    for (const body of [{}, { reason: ' ' }, { reason: 'x', colour: 'blue' }])
      expect((await api.post(`/quarantine/${id}/dismiss`).send(body)).status).toBe(400);
    expect(await stateOf('d1')).toEqual(WAITING);
    const dismissed = await api.post(`/quarantine/${id}/dismiss`).send({ reason: 'a test call' });
    expect(dismissed.status).toBe(200);
    expect(dismissed.body).toMatchObject({ by: 'dismissed', actor: 'tester', reason: 'a test call' });
    expect(await stateOf('d1')).toEqual(SETTLED);
    const again = await api.post(`/quarantine/${id}/dismiss`).send({ reason: 'once more' });
    expect(again.body).toEqual(dismissed.body);
    const lines = (await ledgerOf(service.folder)).filter(({ outcome }) => outcome === 'dismissed');
    expect(lines).toEqual([
      expect.objectContaining({
        deliveryId: dismissed.body.deliveryId,
        jobId: 'd1',
        source: 'default',
        actor: 'tester',
        reason: 'a test call',
      }),
    ]);
    expect((await bodiesOf('d1'))[0]).toMatchObject({ state: 'settled', settlement: dismissed.body });
    expect((await api.get(`/quarantine/${id}`)).body).toMatchObject({ settlement: dismissed.body });
    expect((await api.get(`/quarantine/${id}/body`)).body.toString()).toBe(BROKEN);
    expect((await api.get('/quarantine')).body.quarantine).toEqual([]);
    expect((await api.get('/quarantine?state=settled')).body.quarantine).toHaveLength(1);
  });

  it('of an unknown body is 404, of a released one 409', async () => {
    const unknown = await api.post('/quarantine/01ARZ3NDEKTSV4RRFFQ69G5FAV/dismiss').send({ reason: 'x' });
    expect(unknown.status).toBe(404);
    const form = new FormData();
    form.append('transcript', new Blob([TRANSCRIPT]), 'transcript.json');
    form.append('jobinfo', new Blob(['{"id":"r1"}']), 'jobinfo.json');
    const { deliveryId, mend } = await sendMendable(service, 'id=r1&status=success', form);
    await mend();
    await api.post(`/quarantine/${deliveryId}/release`).expect(200);
    const released = await api.post(`/quarantine/${deliveryId}/dismiss`).send({ reason: 'x' });
    expect(released.body).toMatchObject({ status: 409, code: 'conflict' });
  });
});

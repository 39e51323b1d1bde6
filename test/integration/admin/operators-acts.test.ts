import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { type AdminApi, adminApi, sendCallback, sendForm } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TRANSCRIPT = JSON.stringify({ format: '2.9', metadata: {}, results: [] });
const JOBS = ['j1', 'j2', 'j3', 'j4', 'j5'];
const NEWEST_FIRST = JOBS.toReversed();

let service: RunningService;
let api: AdminApi;

/** After each callback operators read, acknowledge and import more than a page of the list holds. */
beforeAll(async () => {
  service = await startService({ sources: { default: {} } });
  api = adminApi(service);
  for (const job of JOBS) {
    await sendCallback(service, `id=${job}&status=success`, TRANSCRIPT, JSON_TYPE);
    await api.get(`/jobs/${job}/artefacts/transcript.json`).expect(200);
    for (const reason of ['looked at', 'looked at again', 'done'])
      await api.post(`/jobs/${job}/acknowledge`).send({ reason }).expect(200);
  }
  const form = new FormData();
  form.set('reason', 'from the backup');
  form.set('transcript', new Blob([TRANSCRIPT]), 'transcript.json');
  expect((await sendForm(api.post('/jobs/imported/artefacts'), form)).status).toBe(200);
});
afterAll(() => service.stop());

async function listed(query: string): Promise<LedgerLine[]> {
  const { body } = await api.get(`/deliveries?${query}`).expect(200);
  return body.deliveries;
}

/** The jobs of every page. */
async function pagesOf(query: string): Promise<(string | null)[][]> {
  const pages: (string | null)[][] = [];
  let cursor: string | null = null;
  do {
    const at: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { body } = await api.get(`/deliveries?${query}${at}`).expect(200);
    pages.push((body.deliveries as LedgerLine[]).map(({ jobId }) => jobId));
    cursor = body.nextCursor;
  } while (cursor !== null);
  return pages;
}

describe("deliveries without operators' acts", () => {
  it.each(['', '&since=2020-01-01'])('come in pages that are full until the last%s', async (range) => {
    const [a, b, c, d, e] = NEWEST_FIRST;
    expect(await pagesOf(`without=acts&limit=2${range}`)).toEqual([[a, b], [c, d], [e]]);
    expect(await pagesOf(`without=acts&limit=5${range}`)).toEqual([NEWEST_FIRST]);
  });

  it('are chosen by the client: without the parameter acts are listed', async () => {
    const outcomes = (await listed('limit=500')).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'acknowledged')).toHaveLength(15);
    expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(6);
  });

  it('leave out the accesses to a job', async () => {
    expect((await listed('job=j1')).map(({ origin }) => origin)).toContain('admin');
    expect(await listed('job=j1&without=acts')).toMatchObject([{ origin: 'callback', outcome: 'stored' }]);
  });

  it.each([
    ['outcome=acknowledged', 15],
    ['outcome=read', 5],
    ['origin=import', 1],
    ['origin=replay', 15],
  ])('give way to a filter that asks for acts: %s', async (filter, count) => {
    expect(await listed(`without=acts&limit=500&${filter}`)).toHaveLength(count);
  });
});

describe('the acts of one operator', () => {
  it('are listed with accesses, also where acts are left out, and nobody else’s', async () => {
    for (const without of ['', '&without=acts']) {
      const own = await listed(`actor=tester&limit=500${without}`);
      expect(new Set(own.map(({ actor }) => actor))).toEqual(new Set(['tester']));
      const outcomes = new Set(own.map(({ outcome }) => outcome));
      expect(outcomes).toEqual(new Set(['read', 'acknowledged', 'stored', 'signed-in']));
    }
    expect(await listed('actor=tester&outcome=acknowledged&limit=500')).toHaveLength(15);
    expect(await listed('actor=nobody')).toEqual([]);
  });
});

describe("operators' acts alone", () => {
  it('are listed in pages, with accesses', async () => {
    const all = (await listed('limit=500')).concat(await listed('origin=admin&limit=500'));
    const acts = await listed('only=acts&limit=500');
    const ids = (lines: readonly LedgerLine[]) => lines.map(({ deliveryId }) => deliveryId).sort();
    const expected = all.filter(({ origin }) => ['replay', 'import', 'admin'].includes(origin));
    expect(ids(acts)).toEqual(ids(expected));
    expect(acts.filter(({ origin }) => origin === 'admin').length).toBeGreaterThan(0);
    expect((await pagesOf('only=acts&limit=3')).flat()).toEqual(acts.map(({ jobId }) => jobId));
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFileStore } from '../../src/store/file/file-store.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { ledgerOf } from '../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';

/** The submitter's own parameters, from the callback URL into the ledger and the metadata of the artefacts. */

const JSON_TYPE = { 'content-type': 'application/json' };
const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j' }, metadata: {}, results: [] });

let service: RunningService;
let store: ObjectStore;

beforeAll(async () => {
  service = await startService({
    sources: { default: { context: ['call', 'Customer_Id'] }, plain: { keyPrefix: 'plain/' } },
  });
  store = createFileStore({ directory: service.folder, partSize: 64 * 1024 });
});

afterAll(async () => {
  await store.close();
  await service.stop();
});

const send = (query: string, body = TRANSCRIPT, source = 'default') =>
  sendCallback(service, query, body, JSON_TYPE, source);

async function linesOf(jobId: string) {
  return (await ledgerOf(service.folder)).filter((line) => line.jobId === jobId);
}

async function contextMetadata(key: string) {
  const { metadata = {} } = (await store.head(key)) ?? {};
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => name.startsWith('context-')));
}

describe('the context of a callback', () => {
  it('is in its ledger line and in the metadata of what it stored; other parameters are not', async () => {
    expect(await send('team=x&call=%2B49%2F1&Customer_Id=A-7&id=c1&status=success')).toMatchObject({
      status: 200,
      json: { outcome: 'stored' },
    });
    expect(await linesOf('c1')).toEqual([
      expect.objectContaining({ context: { call: '+49/1', Customer_Id: 'A-7' } }),
    ]);
    expect(await contextMetadata('jobs/c1/transcript.json')).toEqual({
      'context-call': '+49/1',
      'context-customer-id': 'A-7',
    });
  });

  it.each([
    ['%00', 'malformed'],
    ['1&call=1', 'repeated'],
  ])('never costs the transcript: call=%s is left out as %s', async (value, why) => {
    const id = `bad-${value.length}-${value.codePointAt(0)}`;
    const answer = await send(`id=${id}&status=success&call=${value}&Customer_Id=7`);
    expect(answer).toMatchObject({ status: 200, json: { outcome: 'stored' } });
    const [line] = await linesOf(id);
    expect(line).toMatchObject({ context: { Customer_Id: '7' }, contextOmitted: { call: why } });
    expect(await contextMetadata(`jobs/${id}/transcript.json`)).toEqual({ 'context-customer-id': '7' });
  });

  it('of each delivery is in its own line, and the artefact keeps the one it was stored with', async () => {
    await send('id=c2&status=success&call=1');
    await send('id=c2&status=success&call=2');
    await send('id=c2&status=success&call=3', `${TRANSCRIPT} `);
    const lines = await linesOf('c2');
    expect(lines.map(({ outcome, context }) => [outcome, context?.call])).toEqual([
      ['stored', '1'],
      ['duplicate', '2'],
      ['conflict', '3'],
    ]);
    expect(await contextMetadata('jobs/c2/transcript.json')).toEqual({ 'context-call': '1' });
    expect(await contextMetadata(lines[2]?.items[0]?.key ?? '')).toEqual({ 'context-call': '3' });
  });

  it('is in the line of a refused delivery too, and nowhere for a source that admits none', async () => {
    await send('id=c3&status=success&call=1', 'x'.repeat(200_000));
    expect((await linesOf('c3'))[0]).toMatchObject({ outcome: 'refused', context: { call: '1' } });
    await send('id=c4&status=success&call=1', TRANSCRIPT, 'plain');
    expect((await linesOf('c4'))[0]).not.toHaveProperty('context');
    expect(await contextMetadata('plain/jobs/c4/transcript.json')).toEqual({});
  });

  it('is a filter of the list of deliveries', async () => {
    const api = adminApi(service);
    const jobsOf = async (filter: string) => {
      const { body } = await api.get(`/deliveries?context=${encodeURIComponent(filter)}`);
      return body.deliveries.map(({ jobId }: { jobId: string }) => jobId);
    };
    expect(await jobsOf('call=+49/1')).toEqual(['c1']);
    expect(await jobsOf('call=2')).toEqual(['c2']);
    expect(await jobsOf('call=1')).toEqual(['c3', 'c2']);
    expect(await jobsOf('Customer_Id=1')).toEqual([]);
    expect((await api.get('/names')).body.contexts).toEqual(['Customer_Id', 'call']);
  });

  it.each([
    ['cal=1', '"cal" is not known; sources admit Customer_Id, call'],
    ['constructor=1', '"constructor" is not known'],
    ['acme', 'context must be <name>=<value>, such as Customer_Id=acme or call=acme.'],
    ['call', 'context must be <name>=<value>, such as Customer_Id=123 or call=123.'],
    ['call=a b', 'context must be'],
  ])('refuses the filter %s', async (filter, detail) => {
    const { status, body } = await adminApi(service).get(`/deliveries?context=${encodeURIComponent(filter)}`);
    expect([status, body.detail]).toEqual([400, expect.stringContaining(detail)]);
  });
});

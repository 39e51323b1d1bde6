import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFileStore } from '../../src/store/file/file-store.js';
import { ledgerOf } from '../support/ledger/ledger-of.js';
import { type RunningService, startService } from '../support/processes/running-service.js';

/** The sender's trace, from its `traceparent` header into log, ledger and the metadata of the artefacts. */

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j' }, metadata: {}, results: [] });

let service: RunningService;
let jobs = 0;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Sends a callback with these lines of the header; resolves with what was kept of its trace. */
async function deliver(values: readonly string[], body = TRANSCRIPT) {
  jobs += 1;
  const id = `trace${jobs}`;
  const status = await new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(values.length > 0 && { traceparent: [...values] }),
    };
    const url = `${service.publicUrl}/callbacks/default?id=${id}&status=success`;
    request(url, { method: 'POST', headers }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end(body);
  });
  const store = createFileStore({ directory: service.folder, partSize: 64 * 1024 });
  const line = (await ledgerOf(service.folder)).find(({ jobId }) => jobId === id);
  const object = await store.head(`jobs/${id}/transcript.json`);
  await store.close();
  const log = service.log.find(({ event, jobId }) => event === 'delivery' && jobId === id);
  return { status, kept: [line?.traceparent, object?.metadata?.traceparent, log?.traceparent] };
}

describe('the trace of a callback', () => {
  it.each([
    ['sampled', `00-${TRACE}-${PARENT}-01`],
    ['not sampled', `00-${TRACE}-${PARENT}-00`],
    ['with flags that are not defined yet', `00-${TRACE}-${PARENT}-ff`],
  ])('is kept when it is %s', async (_name, traceparent) => {
    expect(await deliver([traceparent])).toEqual({
      status: 200,
      kept: [traceparent, traceparent, traceparent],
    });
  });

  it.each<[string, readonly string[]]>([
    ['absent', []],
    ['empty', ['']],
    ['repeated', [`00-${TRACE}-${PARENT}-01`, `00-${TRACE}-${PARENT}-01`]],
    ['of another version', [`01-${TRACE}-${PARENT}-01`]],
    ['of the version that is forbidden', [`ff-${TRACE}-${PARENT}-01`]],
    ['longer than its version allows', [`00-${TRACE}-${PARENT}-01-extra`]],
    ['in upper case', [`00-${TRACE.toUpperCase()}-${PARENT}-01`]],
    ['a trace id of zeros', [`00-${'0'.repeat(32)}-${PARENT}-01`]],
    ['a parent id of zeros', [`00-${TRACE}-${'0'.repeat(16)}-01`]],
    ['two in one line', [`00-${TRACE}-${PARENT}-01,00-${TRACE}-${PARENT}-01`]],
  ])('is ignored, and never costs the transcript, when it is %s', async (_name, values) => {
    expect(await deliver(values)).toEqual({ status: 200, kept: [undefined, undefined, undefined] });
  });

  it('is on the line of a body in quarantine, and among its stored headers', async () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    const { status, kept } = await deliver([traceparent], '{"broken');
    expect([status, kept[0]]).toEqual([202, traceparent]);
  });
});

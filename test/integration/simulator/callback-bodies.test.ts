import { afterEach, describe, expect, it } from '@jest/globals';
import { createSimulator, type Simulator, type SimulatorOptions } from '../../../src/simulator/simulator.js';
import type { CallbackStatus } from '../../../src/speech/wire.js';
import {
  partsOf,
  type RecordedRequest,
  type RecordingServer,
  recordingServer,
} from '../../support/http/recording-server.js';

let simulator: Simulator;
let receiver: RecordingServer;

afterEach(async () => {
  await simulator.close();
  await receiver.close();
});

async function callback(
  contents: readonly string[] | undefined,
  outcome: CallbackStatus = 'success',
  notifier: NonNullable<SimulatorOptions['notifier']> = {},
): Promise<{ request: RecordedRequest; id: string }> {
  receiver = await recordingServer();
  simulator = await createSimulator({ regions: { eu1: 0 }, timeScale: 0.001, notifier });
  const { id, notified } = simulator.submit({
    config: {
      type: 'transcription',
      notification_config: [{ url: receiver.url, ...(contents ? { contents } : {}) }],
    },
    outcome,
    mediaBytes: 200_001,
  });
  await notified;
  const [request] = receiver.requests;
  if (!request || receiver.requests.length > 1)
    throw new Error(`${receiver.requests.length} callbacks arrived`);
  return { request, id };
}

const item = (name: string) => (name === 'transcript' ? 'transcript.json-v2' : name) as 'data';

describe('body rules of the service', () => {
  // Rule: Callback request: status `success`
  // Rule: Body rules: empty `contents`: no body
  // Rule: Contradictions: failed job, empty `contents`: `jobinfo`, or nothing
  it('sends nothing but id and status for empty contents (rule 1)', async () => {
    const { request, id } = await callback([]);
    expect(request.body).toHaveLength(0);
    expect(request.headers['content-type']).toBeUndefined();
    expect(request.headers['content-length']).toBe('0');
    expect(request.url).toBe(`/?id=${id}&status=success`);
  });

  // Rule: Callback request: one per entry of failed jobs
  // Rule: Callback request: status `error`, `fetch_error`, `trim_error`
  // Rule: Body rules: on error only `jobinfo`
  it.each(['error', 'fetch_error', 'trim_error'])('sends only jobinfo on %s (rule 2)', async (outcome) => {
    const { request, id } = await callback(['transcript', 'data', 'jobinfo'], outcome);
    expect(request.url).toBe(`/?id=${id}&status=${outcome}`);
    expect(request.headers['content-type']).toBe('application/json');
    expect(request.body.equals(await simulator.expected(id).jobinfo.bytes())).toBe(true);
    expect(simulator.job(id)?.status).toBe('rejected');
  });

  it.each([
    ['transcript', 'application/json'],
    ['transcript.json-v2', 'application/json'],
    ['jobinfo', 'application/json'],
    ['transcript.txt', 'text/plain'],
    ['transcript.srt', 'text/plain'],
    // Rule: Notification configuration: `transcript` means `transcript.json-v2`
    // Rule: Notification configuration: `jobinfo` is the submitted configuration
    // Rule: Body rules: one of `transcript`, `transcript.json-v2`, `jobinfo`: `application/json`
    // Rule: Body rules: one of `transcript.srt`, `transcript.txt`: `text/plain`
  ])('sends a lone %s as the body, as %s (rules 3, 4 and 6)', async (token, type) => {
    const { request, id } = await callback([token]);
    expect(request.headers['content-type']).toBe(type);
    expect(request.body.equals(await simulator.expected(id)[item(token)].bytes())).toBe(true);
  });

  // Rule: Body rules: `data` alone: `multipart/form-data`
  it('sends a lone data as a form of one attachment (rule 5)', async () => {
    const { request, id } = await callback(['data']);
    expect(request.headers['content-type']).toContain('multipart/form-data; boundary=');
    const parts = partsOf(request);
    expect(parts).toHaveLength(1);
    expect(parts[0]?.head).toContain('form-data; name="data"; filename="data.wav"');
    expect(parts[0]?.body.equals(await simulator.expected(id).data.bytes())).toBe(true);
  });

  // Rule: Body rules: a single item is the body, also `data`
  it('sends a lone data as it is where rule 6 is taken to win', async () => {
    const { request, id } = await callback(['data'], 'success', { loneData: 'raw' });
    expect(request.headers['content-type']).toBe('application/octet-stream');
    expect(request.body.equals(await simulator.expected(id).data.bytes())).toBe(true);
  });

  // Rule: Notification configuration: `contents`: `transcript`, `transcript.json-v2`, `transcript.txt`, `transcript.srt`, `data`, `jobinfo`
  // Rule: Body rules: several items: `multipart/form-data`
  it('sends two or more items as attachments, one each, in the order asked for (rule 5)', async () => {
    const contents = ['transcript', 'transcript.txt', 'transcript.srt', 'jobinfo', 'data'];
    const { request, id } = await callback(contents);
    const parts = partsOf(request);
    expect(parts.map(({ head }) => /name="([^"]+)"/.exec(head)?.[1])).toEqual(contents);
    expect(parts.every(({ head }) => head.includes('Content-Type: application/octet-stream'))).toBe(true);
    for (const [index, name] of contents.entries()) {
      const expected = await simulator.expected(id)[item(name)].bytes();
      expect(parts[index]?.body.equals(expected)).toBe(true);
    }
    expect(Number(request.headers['content-length'])).toBe(request.body.length);
  });

  // Rule: Notification configuration: `contents` is empty by default
  it('takes contents that are absent for empty, their default', async () => {
    const { request } = await callback(undefined);
    expect([request.body.length, request.headers['content-type']]).toEqual([0, undefined]);
  });

  it('can send the transcript as one attachment named data_file when contents is absent', async () => {
    const { request, id } = await callback(undefined, 'success', { absentContents: 'data_file' });
    const parts = partsOf(request);
    expect(parts).toHaveLength(1);
    expect(parts[0]?.head).toContain('name="data_file"');
    const expected = await simulator.expected(id)['transcript.json-v2'].bytes();
    expect(parts[0]?.body.equals(expected)).toBe(true);
  });

  it('can form the error body with the remaining items', async () => {
    const one = await callback(['transcript', 'jobinfo'], 'error', { errorBody: 'remaining' });
    expect(partsOf(one.request).map(({ head }) => /name="([^"]+)"/.exec(head)?.[1])).toEqual(['jobinfo']);
    await simulator.close();
    await receiver.close();
    const none = await callback(['transcript', 'data'], 'error', { errorBody: 'remaining' });
    expect(none.request.headers['content-type']).toMatch(/^multipart\/form-data; boundary=[0-9a-f]{60}$/);
    expect(partsOf(none.request)).toEqual([]);
  });

  it('can send without a length and with true part types', async () => {
    const { request } = await callback(['transcript', 'transcript.srt'], 'success', {
      framing: 'chunked',
      partTypes: 'true',
    });
    expect(request.headers['content-length']).toBeUndefined();
    expect(request.headers['transfer-encoding']).toBe('chunked');
    expect(partsOf(request).map(({ head }) => /Content-Type: (.+)$/.exec(head)?.[1])).toEqual([
      'application/json',
      'text/plain',
    ]);
  });
});

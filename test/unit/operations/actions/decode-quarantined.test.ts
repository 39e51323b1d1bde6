import { hash } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { QuarantinedRequest } from '../../../../src/archive/quarantine/quarantine.js';
import { createTrialDecoder } from '../../../../src/operations/actions/decode-quarantined.js';

const sources = new Map([['default', { contents: [], context: [], maxBytes: 1000, keyPrefix: '' }]]);
const decode = createTrialDecoder(sources);

function request(body: Buffer, headers: Record<string, string> = {}): QuarantinedRequest {
  return {
    v: 1,
    bytes: body.length,
    sha256: hash('sha256', body, 'hex'),
    deliveryId: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    receivedAt: '2026-03-04T05:06:07.089Z',
    source: 'default',
    region: null,
    clientIp: '192.0.2.1',
    method: 'POST',
    jobId: 'job1',
    status: 'success',
    query: 'id=job1&status=success',
    headers: { 'content-type': 'application/json', ...headers },
    reason: 'encoding-unsupported',
    detail: '',
  };
}

describe('decoding a quarantined body again', () => {
  const content = Buffer.from('{"format":"2.9","results":[]}');

  it.each([
    ['a transfer coding', gzipSync(content), { 'transfer-encoding': 'gzip, chunked' }],
    ['chunks only', content, { 'transfer-encoding': 'chunked' }],
  ])('undoes what the receiver would: %s', async (_, body, headers) => {
    expect(await decode(request(body, headers), body)).toEqual({ ok: true, items: ['transcript.json-v2'] });
  });

  it('rejects a content encoding below a transfer coding, as the receiver did', async () => {
    const headers = { 'content-encoding': 'deflate', 'transfer-encoding': 'gzip, chunked' };
    const body = gzipSync(deflateSync(content));
    const trial = await decode(request(body, headers), body);
    expect(trial).toMatchObject({ ok: false, reason: 'encoding-refused' });
  });

  it('rejects an unknown transfer coding, as the receiver did', async () => {
    const trial = await decode(request(content, { 'transfer-encoding': 'compress, chunked' }), content);
    expect(trial).toMatchObject({ ok: false, reason: 'encoding-unsupported' });
  });

  it('rejects a body that is not the one that arrived, however sound it looks', async () => {
    const trial = await decode(request(Buffer.from('{"format":"2.9"')), content);
    expect(trial).toMatchObject({ ok: false, reason: 'body-damaged' });
  });
});

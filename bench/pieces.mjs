/**
 * What the single pieces of a 10 KB callback cost, each for itself, in microseconds: node bench/pieces.mjs (after npm run build).
 * What a callback costs beyond them is receiving it and sending it on: HTTP twice, and the collector.
 */
import { createHash, hash } from 'node:crypto';
import { JsonCheck } from '../dist/content/json-check.js';
import { createLogger } from '../dist/observe/logger.js';
import { createMetrics } from '../dist/observe/metrics.js';
import { parseCallbackQuery } from '../dist/receiver/access/callback-query.js';
import { createReport } from '../dist/receiver/report.js';
import { assertKey } from '../dist/store/object-key.js';
import { assertHeaders } from '../dist/store/object-metadata.js';
import { addObjectLines } from '../dist/store/s3/wire/object-headers.js';
import { createS3Signer } from '../dist/store/s3/wire/s3-signer.js';
import { transcript } from './load/bodies.mjs';

const TURNS = 50_000;

const body = transcript(10 * 1024);
const sha256 = createHash('sha256').update(body).digest('hex');
const key = 'jobs/b1x1234567-123/transcript.json';
const metadata = {
  'job-id': 'b1x1234567-123',
  kind: 'transcript.json-v2',
  source: 'default',
  'delivery-id': '01K7ABCDEFGHJKMNPQRSTVWXYZ',
  'received-at': '2026-11-21T10:00:00.000Z',
  origin: 'callback',
  status: 'success',
  sha256,
};
const headers = { contentType: 'application/json', metadata };
const line = {
  v: 1,
  deliveryId: '01K7ABCDEFGHJKMNPQRSTVWXYZ',
  receivedAt: '2026-11-21T10:00:00.000Z',
  origin: 'callback',
  source: 'default',
  region: null,
  clientIp: '127.0.0.1',
  method: 'POST',
  jobId: 'b1x1234567-123',
  status: 'success',
  credential: 'bench',
  outcome: 'stored',
  reason: null,
  items: [{ kind: 'transcript.json-v2', key, size: body.length, sha256, outcome: 'created' }],
  bytes: body.length,
  durationMs: 12,
  shape: { contentType: 'application/json', framing: 'sized' },
};

const metrics = createMetrics({ sources: ['default'], regions: [] });
const log = createLogger({
  level: 'info',
  format: 'json',
  destination: { write() {} },
  secrets: ['a-secret'],
});
const report = createReport({ deliveries: metrics.deliveries, ledger: metrics.ledger, log });
const signer = createS3Signer('us-east-1');
const holder = { accessKeyId: 'bench', secretAccessKey: 'benchsecret' };

const pieces = {
  'JSON check of the body': () => {
    const check = new JsonCheck();
    check.push(body);
    return check.finish();
  },
  'for comparison: JSON.parse of the body': () => JSON.parse(body.toString()),
  'SHA-256 of the body': () => hash('sha256', body, 'hex'),
  'headers and signature of the PUT': () => {
    const lines = ['x-amz-content-sha256', sha256];
    addObjectLines(lines, {}, headers);
    lines.push('if-none-match', '*', 'host', '127.0.0.1:9000');
    return signer.sign(
      { method: 'PUT', path: `/bench/${key}`, query: [], headers: lines },
      holder,
      new Date(),
    );
  },
  'key and metadata looked at': () => {
    assertKey('create', key);
    assertHeaders('create', headers);
  },
  'credential and query': () => {
    hash('sha256', 'bench-token-of-32-characters-long', 'buffer');
    return parseCallbackQuery('id=b1x1234567-123&status=success');
  },
  'ledger line': () => JSON.stringify(line),
  'metrics and log line': () => report.delivered(line, { receive: 1, store: 8, acknowledge: 3 }, null),
};

for (const [name, run] of Object.entries(pieces)) {
  for (let turn = 0; turn < TURNS / 2; turn += 1) run();
  const began = performance.now();
  for (let turn = 0; turn < TURNS; turn += 1) run();
  console.log(`${(((performance.now() - began) / TURNS) * 1000).toFixed(1).padStart(6)} µs  ${name}`);
}
metrics.close();

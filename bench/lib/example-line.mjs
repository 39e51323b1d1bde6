import { encodeTime } from 'ulid';

/** A ledger line of an ordinary callback with one transcript, some 600 bytes. */
export function exampleLine(number, time) {
  return {
    v: 1,
    deliveryId: `${encodeTime(time)}${String(number).padStart(16, '0')}`,
    receivedAt: new Date(time).toISOString(),
    origin: 'callback',
    source: 'default',
    region: 'eu1',
    clientIp: '40.74.41.91',
    method: 'POST',
    jobId: `job${number}`,
    status: 'success',
    credential: 'main',
    outcome: 'stored',
    reason: null,
    items: [
      {
        kind: 'transcript.json-v2',
        key: `jobs/job${number}/transcript.json`,
        size: 10_240,
        sha256: 'a'.repeat(64),
        outcome: 'created',
      },
    ],
    bytes: 10_240,
    durationMs: 40,
    shape: { contentType: 'application/json', framing: 'sized' },
  };
}

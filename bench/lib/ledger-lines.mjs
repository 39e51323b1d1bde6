import { createHash } from 'node:crypto';
import { encodeTime } from 'ulid';

const SOURCES = ['default', 'emea', 'apac'];
const REGIONS = ['eu1', 'us1'];

/**
 * A ledger line with the entropy of a real one, some 750 bytes: ids and hashes do not compress. Computed from the number,
 * so that a ledger of any size need not be kept. Every hundredth callback reports an error.
 */
export function ledgerLine(number, time) {
  const digest = createHash('sha256').update(`line ${number}`).digest('hex');
  const other = createHash('sha256').update(digest).digest('hex');
  const roll = Number.parseInt(digest.slice(0, 8), 16);
  const jobId = `b${other.slice(0, 16)}`;
  const failed = roll % 100 === 0;
  const parts = [
    { name: 'transcript', contentType: 'application/json', bytes: 5000 + (roll % 60_000) },
    ...(roll % 2 === 0
      ? [{ name: 'jobinfo', contentType: 'application/json', bytes: 600 + (roll % 300) }]
      : []),
  ];
  const item = (kind, file, index, sha256) => ({
    kind,
    key: `jobs/${jobId}/${file}`,
    size: parts[index].bytes,
    sha256,
    outcome: 'created',
  });
  return {
    v: 1,
    deliveryId: `${encodeTime(time)}${digest.slice(0, 16).toUpperCase()}`,
    receivedAt: new Date(time).toISOString(),
    origin: 'callback',
    source: SOURCES[roll % SOURCES.length],
    region: REGIONS[roll % REGIONS.length],
    clientIp: `40.74.${roll % 64}.${(roll >> 8) % 256}`,
    method: 'POST',
    jobId,
    status: failed ? 'error' : 'success',
    credential: 'main',
    outcome: failed ? 'noted' : 'stored',
    reason: null,
    items: failed
      ? []
      : [
          item('transcript.json-v2', 'transcript.json', 0, digest),
          ...(parts.length > 1 ? [item('jobinfo', 'jobinfo.json', 1, other)] : []),
        ],
    bytes: parts.reduce((sum, { bytes }) => sum + bytes + 150, 0),
    durationMs: 20 + (roll % 800) / 10,
    shape: { contentType: 'multipart/form-data', framing: 'sized', parts },
  };
}

import type { QuarantineRecord } from '../../src/archive/quarantine/quarantine.js';

/** The request of a body that could not be decoded. */
export function quarantinedRequest(
  overrides: Partial<QuarantineRecord> & Pick<QuarantineRecord, 'deliveryId'>,
): QuarantineRecord {
  const { jobId = 'job1', status = 'success' } = overrides;
  return {
    receivedAt: '2026-01-02T03:04:05.678Z',
    source: 'default',
    region: null,
    clientIp: null,
    method: 'POST',
    jobId,
    status,
    query: `id=${jobId}&status=${status}`,
    headers: { 'content-type': 'application/json' },
    reason: 'json-invalid',
    detail: 'It was broken.',
    ...overrides,
  };
}

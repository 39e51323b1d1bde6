import type { LedgerLine } from '../../../src/domain/delivery.js';

let counter = 0;

/** A complete ledger line with defaults; `overrides` hold what the test needs. */
export function ledgerLine(overrides: Partial<LedgerLine> = {}): LedgerLine {
  counter += 1;
  return {
    v: 1,
    deliveryId: `01TEST${String(counter).padStart(20, '0')}`,
    receivedAt: '2026-03-04T05:06:07.089Z',
    origin: 'callback',
    source: 'default',
    region: 'eu1',
    clientIp: '40.74.41.91',
    method: 'POST',
    jobId: `job${counter}`,
    status: 'success',
    credential: 'primary',
    outcome: 'stored',
    reason: null,
    items: [],
    bytes: 1234,
    durationMs: 12,
    shape: null,
    ...overrides,
  };
}

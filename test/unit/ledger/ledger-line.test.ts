import { describe, expect, it } from '@jest/globals';
import {
  type LedgerFields,
  ledgerLine,
  NO_REQUEST,
  newDeliveryId,
  operatorLine,
} from '../../../src/ledger/ledger-line.js';
import { SHIPPED_SCHEMA } from '../../support/ledger/ledger-json-schema.js';

const FIELDS: LedgerFields = {
  ...NO_REQUEST,
  wouldRefuse: 'address-unknown',
  context: { call: '1' },
  contextOmitted: { customer: 'repeated' },
  expired: { kind: 'data', objects: 1 },
  expectedAt: '2026-01-01T00:00:00.000Z',
  tooLarge: { declared: 2000, limit: 1024 },
  wanted: ['transcript'],
  body: '01ARZ3NDEKTSV4RRFFQ69G5FAW',
  actor: 'tester',
  durationMs: 1,
  bytes: 2,
  items: [{ outcome: 'read', sha256: 'ab', size: 3, key: 'jobs/j1/data', kind: 'data' }],
  reason: null,
  outcome: 'stored',
  status: 'success',
  jobId: 'j1',
  region: null,
  source: 'default',
  origin: 'callback',
  receivedAt: '2026-03-04T05:06:07.089Z',
  deliveryId: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
};

describe('a ledger line', () => {
  it('has the documented fields in the documented order, however its writer orders them', () => {
    expect(Object.keys(ledgerLine(FIELDS))).toEqual(Object.keys(SHIPPED_SCHEMA.properties as object));
  });

  it('leaves out optional fields that are null', () => {
    const none = {
      actor: null,
      wouldRefuse: null,
      context: null,
      contextOmitted: null,
      expired: null,
      tooLarge: null,
      expectedAt: null,
      wanted: null,
      body: null,
    };
    const line = ledgerLine({ ...FIELDS, ...none });
    expect(Object.keys(line).at(-1)).toBe('shape');
  });

  it('names the operator and the reason of an act, whatever the act says', () => {
    const act = { deliveryId: newDeliveryId(), outcome: 'erased', jobId: 'j1', bytes: 3 };
    const claiming = { ...act, actor: 'x', reason: 'y' };
    const line = operatorLine({ actor: 'tester', reason: 'INC-42' }, claiming);
    expect(line).toMatchObject({
      v: 1,
      ...act,
      actor: 'tester',
      reason: 'INC-42',
      source: null,
      shape: null,
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import { daysUntilEnd } from '../../../../../src/store/s3/bucket/inspect-bucket.js';

const enabled = (Days: number | undefined, Filter = {}) => ({
  Status: 'Enabled' as const,
  Filter,
  ...(Days !== undefined && { Expiration: { Days } }),
});

describe('the end of an object by lifecycle rules', () => {
  it('is the earliest of all rules that cover it', () => {
    const rules = [
      enabled(30),
      enabled(9, { Prefix: 'jobs/' }),
      enabled(3, { Prefix: 'ledger/' }),
      enabled(20),
    ];
    expect(daysUntilEnd(rules, 'jobs/j/data', {})).toBe(9);
    expect(daysUntilEnd(rules, 'reports/x', {})).toBe(20);
  });

  it('is not set by rules that are off, end nothing, or cover some sizes only', () => {
    const rules = [
      { ...enabled(1), Status: 'Disabled' as const },
      enabled(undefined),
      enabled(1, { ObjectSizeGreaterThan: 5 }),
      enabled(1, { And: { Prefix: '', ObjectSizeLessThan: 5 } }),
    ];
    expect(daysUntilEnd(rules, 'jobs/j/data', {})).toBeNull();
  });

  it('demands every tag of a rule', () => {
    const rules = [
      enabled(7, {
        And: {
          Prefix: 'jobs/',
          Tags: [
            { Key: 'kind', Value: 'data' },
            { Key: 'source', Value: 's' },
          ],
        },
      }),
      enabled(8, { Tag: { Key: 'kind', Value: 'data' } }),
    ];
    expect(daysUntilEnd(rules, 'jobs/j/data', { kind: 'data', source: 's' })).toBe(7);
    expect(daysUntilEnd(rules, 'jobs/j/data', { kind: 'data' })).toBe(8);
    expect(daysUntilEnd(rules, 'jobs/j/data', { source: 's' })).toBeNull();
  });
});

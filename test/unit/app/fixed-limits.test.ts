import { describe, expect, it } from '@jest/globals';
import { serviceLimits } from '../../../src/app/fixed-limits.js';
import { parseConfig } from '../../../src/config/config.js';

const limitsFor = (maxConcurrentDeliveries: number) =>
  serviceLimits(parseConfig({ limits: { maxConcurrentDeliveries } }).limits);

describe('the limits of a replica', () => {
  it('leave connections for balancers beside all deliveries that it may receive at a time', () => {
    expect(limitsFor(10).maxConnections).toBe(2_048);
    expect(limitsFor(1_000).maxConnections).toBe(8_000);
  });
});

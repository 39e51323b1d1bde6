import { describe, expect, it } from '@jest/globals';
import { retentionWarning } from '../../../../../src/recovery/reconcile/fetch/retention-deadline.js';

const DAY = 86_400_000;

describe('the warning before the service drops results', () => {
  it('comes two days before, and never in the first half of a short retention', () => {
    expect(retentionWarning(7 * DAY)).toBe(2 * DAY);
    expect(retentionWarning(DAY)).toBe(DAY / 2);
  });
});

import { describe, expect, it } from '@jest/globals';
import { sawEverything } from '../../../../../src/recovery/reconcile/report/recovery-report.js';

describe('a run', () => {
  it.each([
    ['without limits and faults', { limited: false, faults: [] }, true],
    ['with limits', { limited: true, faults: [] }, false],
    ['with faults', { limited: false, faults: ['list failed'] }, false],
    ['with both', { limited: true, faults: ['list failed'] }, false],
    ['whose report is damaged', {}, false],
  ])('%s: whether it saw everything', (_name, run, expected) => {
    expect(sawEverything(run)).toBe(expected);
  });
});

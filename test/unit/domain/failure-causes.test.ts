import { describe, expect, it } from '@jest/globals';
import { causeInWords, commonReason, failureCauses } from '../../../src/domain/failure-causes.js';

const line = (outcome: string, reason: string | null, source: string | null, minute: number) => {
  const time = `2026-03-04T05:0${minute}:00.000Z`;
  return { outcome, reason, source, count: 1, first: time, last: time };
};

describe('failures by cause', () => {
  it('are grouped by what failed and where, the largest group first', () => {
    const causes = failureCauses([
      line('refused', 'body-too-large', 'intake', 3),
      line('failed', 'eu1 answered 500', 'intake', 1),
      line('refused', 'body-too-large', 'intake', 1),
      line('refused', 'body-too-large', 'other', 2),
      line('conflict', null, 'intake', 2),
    ]);
    expect(causes.map(({ code, source, count }) => [code, source, count])).toEqual([
      ['body-too-large', 'intake', 2],
      ['body-too-large', 'other', 1],
      ['conflict', 'intake', 1],
      ['eu1 answered 500', 'intake', 1],
    ]);
    expect(causes[0]).toMatchObject({
      first: '2026-03-04T05:01:00.000Z',
      last: '2026-03-04T05:03:00.000Z',
      remedy: 'Refetch the job, whatever its size. For later ones raise maxBytes of the source, and restart.',
    });
    expect(causes[2]?.remedy).toMatch(/choose the one that is right/);
    expect(causes[3]?.remedy).toBeNull();
  });

  it('have no id of a job, so that jobs that fail alike have one', () => {
    const reason = (id: string) => `the store failed: create jobs/${id}/data of ${id}, not ${id}2: no room`;
    expect(commonReason(reason('a-1'), 'a-1')).toBe(
      'the store failed: create jobs/…/data of …, not a-12: no room',
    );
    expect(commonReason(reason('a-1'), null)).toBe(reason('a-1'));
    expect(commonReason('overloaded', 'overloaded')).toBe('overloaded');
  });

  it('are parts of a sentence', () => {
    expect(causeInWords('body-too-large')).toBe('the body was larger than maxBytes of the source');
    expect(causeInWords('conflict')).toMatch(/^different bytes/);
    expect(causeInWords('eu1 answered 500')).toBe('eu1 answered 500');
    expect(causeInWords('constructor')).toBe('constructor');
  });
});

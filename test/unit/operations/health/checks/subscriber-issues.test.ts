import { describe, expect, it } from '@jest/globals';
import { subscriberIssues } from '../../../../../src/operations/health/checks/subscriber-issues.js';
import { describeIssue } from '../../../../../src/operations/issues/describe-issue.js';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const PAUSED = {
  name: 'crm',
  stateDamaged: false,
  lagSeconds: 0,
  dead: 0,
  openSince: '2026-11-20T11:58:00.000Z',
  lastError: { at: '2026-11-20T11:58:00.000Z', status: 410, error: null },
  lastSentAt: '2026-11-20T11:30:00.000Z',
};

describe('the issue of a paused subscriber', () => {
  it('ends once an event was accepted that an operator sent, though the sender waits for the next one', () => {
    const codes = (facts: Parameters<typeof subscriberIssues>[0]) =>
      subscriberIssues(facts, NOW).map(({ code }) => code);
    expect(codes(PAUSED)).toEqual(['subscriber-paused']);
    expect(codes({ ...PAUSED, lastSentAt: null })).toEqual(['subscriber-paused']);
    expect(codes({ ...PAUSED, lastSentAt: '2026-11-20T11:59:00.000Z' })).toEqual([]);
  });

  it('does not promise that an event answered 410 is sent again', () => {
    const [issue] = subscriberIssues(PAUSED, NOW);
    expect(issue && describeIssue(issue).remedy).toBe(
      'Correct its address or what answers there; then replay the events that it answered with 410.',
    );
  });
});

describe('the issue of a lagging subscriber', () => {
  const LAGGING = { ...PAUSED, openSince: null, lagSeconds: 20 * 60 };

  it.each([
    ['nothing that was sent failed', null],
    [
      'what failed came before the oldest event',
      { at: '2026-11-20T11:39:00.000Z', status: 503, error: null },
    ],
  ])('does not blame the address where %s', (_, lastError) => {
    const [issue] = subscriberIssues({ ...LAGGING, lastError }, NOW);
    expect(issue && describeIssue(issue)).toMatchObject({
      text: 'Events for crm have waited since 2026-11-20T11:40:00.000Z.',
      remedy: expect.stringContaining('Correct what events-delayed names in the logs'),
    });
  });
});

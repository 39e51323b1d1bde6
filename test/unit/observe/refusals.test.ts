import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ReasonCode } from '../../../src/domain/reasons.js';
import { createRefusalLog } from '../../../src/observe/refusal-log.js';
import { createRefusalRing } from '../../../src/observe/refusal-ring.js';

const entry = (reason: ReasonCode) => ({ reason, source: null, clientIp: '203.0.113.9' });

describe('refusal log', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function create() {
    const lines: Record<string, unknown>[] = [];
    const refusals = createRefusalLog({
      warn: (fields: object) => void lines.push(fields as Record<string, unknown>),
    });
    return { refusals, lines };
  }

  it('logs a bounded number per second and reason, and reports how many it suppressed', () => {
    const { refusals, lines } = create();
    for (let n = 0; n < 100; n += 1) refusals.refused(entry('credential-invalid'));
    refusals.refused(entry('address-refused'));
    expect(lines.map((line) => line.reason)).toEqual([
      ...Array.from({ length: 5 }, () => 'credential-invalid'),
      'address-refused',
    ]);

    jest.advanceTimersByTime(1000);
    expect(lines.slice(6)).toEqual([
      { event: 'refusals-suppressed', reason: 'credential-invalid', count: 95 },
    ]);

    refusals.refused(entry('credential-invalid'));
    expect(lines.at(-1)).toMatchObject({ event: 'refused', reason: 'credential-invalid' });
    expect(lines).toHaveLength(8);
  });

  it('reports what it suppressed when closed, and leaves no timer', () => {
    const { refusals, lines } = create();
    for (let n = 0; n < 6; n += 1) refusals.refused(entry('overloaded'));
    refusals.close();
    expect(lines.at(-1)).toMatchObject({ event: 'refusals-suppressed', count: 1 });
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('refusal ring', () => {
  const refusal = (at: string, userAgent: string | null = null) => ({
    at,
    source: 'default',
    clientIp: '203.0.113.9',
    reason: 'credential-invalid' as const,
    cause: 'credential-wrong' as const,
    userAgent,
    peer: '203.0.113.9',
    forwardedFor: null,
  });

  it('keeps the newest, newest first', () => {
    const ring = createRefusalRing(undefined, 3);
    for (const at of ['1', '2']) ring.add(refusal(at));
    expect(ring.list().map((kept) => kept.at)).toEqual(['2', '1']);
    for (const at of ['3', '4']) ring.add(refusal(at));
    expect(ring.list().map((kept) => kept.at)).toEqual(['4', '3', '2']);
  });

  it('keeps no peer beside an X-Forwarded-For that was cut, because the last addresses decide', () => {
    const ring = createRefusalRing();
    ring.add({ ...refusal('1'), forwardedFor: `${'192.0.2.1, '.repeat(20)}192.0.2.2` });
    ring.add({ ...refusal('2'), forwardedFor: '192.0.2.1' });
    expect(ring.list().map(({ peer }) => peer)).toEqual(['203.0.113.9', null]);
  });

  it('truncates texts of unauthenticated senders', () => {
    const ring = createRefusalRing();
    ring.add(refusal('1', 'x'.repeat(10_000)));
    expect(ring.list()[0]?.userAgent).toHaveLength(200);
  });
});

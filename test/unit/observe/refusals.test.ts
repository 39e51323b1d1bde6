import { describe, expect, it } from '@jest/globals';
import { createRefusalRing } from '../../../src/observe/refusal-ring.js';

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

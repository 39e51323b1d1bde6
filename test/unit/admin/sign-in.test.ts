import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { createSignIn } from '../../../src/admin/sign-in.js';
import { Problem } from '../../../src/domain/problem.js';

const TOKENS = { ops: 'token-of-the-operators', ci: 'token-of-the-pipeline' };

function request(authorization: string[], peer = '127.0.0.1'): IncomingMessage {
  return {
    rawHeaders: authorization.flatMap((value) => ['Authorization', value]),
    socket: { remoteAddress: peer },
  } as unknown as IncomingMessage;
}

function codeOf(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return error instanceof Problem ? error.code : 'no problem';
  }
}

describe('signing in', () => {
  it('knows each token by its name', () => {
    const { bearer } = createSignIn({ tokens: TOKENS });
    expect(bearer(request(['Bearer token-of-the-operators']))).toBe('ops');
    expect(bearer(request(['bearer   token-of-the-pipeline']))).toBe('ci');
  });

  it.each([
    [[]],
    [['Bearer token-of-the-operator']],
    [['Bearer token-of-the-operators token-of-the-pipeline']],
    [['Bearer token-of-the-operators', 'Bearer token-of-the-operators']],
    [['token-of-the-operators']],
    [['Bearer ']],
  ])('refuses %j', (authorization) => {
    const { bearer } = createSignIn({ tokens: TOKENS });
    expect(codeOf(() => bearer(request(authorization)))).toBe('credential-invalid');
  });

  it('bounds failed attempts per peer and minute, and never locks the right token out', () => {
    let now = 0;
    const { bearer } = createSignIn({ tokens: TOKENS, attemptsPerMinute: 2, clock: () => now });
    const fail = (peer?: string) => codeOf(() => bearer(request(['Bearer wrong'], peer)));
    expect([fail(), fail(), fail(), fail('::1')]).toEqual([
      'credential-invalid',
      'credential-invalid',
      'too-many-attempts',
      'credential-invalid',
    ]);
    expect(bearer(request(['Bearer token-of-the-operators']))).toBe('ops');
    now = 60_000;
    expect(fail()).toBe('credential-invalid');
  });
});

describe('a ticket', () => {
  it('opens the artefacts of one job, on every replica, for an hour, while its token is configured', () => {
    let now = 1_000_000;
    const clock = () => now;
    const { ticket, expires } = createSignIn({ tokens: TOKENS, clock }).issueTicket('ops', 'j1');
    const other = createSignIn({ tokens: TOKENS, clock });
    const open = (text: string, job = 'j1', by = other) => codeOf(() => by.ticket(text, job, request([])));
    expect(other.ticket(ticket, 'j1', request([]))).toBe('ops');
    expect(Date.parse(expires)).toBe(now + 3_600_000);
    expect(open(ticket, 'j2')).toBe('credential-invalid');
    expect(open(ticket.replace('ops', 'ci'))).toBe('credential-invalid');
    expect(open(ticket.replace('460', '461'))).toBe('credential-invalid');
    expect(open(`${ticket.slice(0, -2)}AA`)).toBe('credential-invalid');
    expect(open('nonsense')).toBe('credential-invalid');
    const rotated = createSignIn({ tokens: { ...TOKENS, ops: 'another-token-of-operators' }, clock });
    expect(open(ticket, 'j1', rotated)).toBe('credential-invalid');
    now += 3_600_000;
    expect(open(ticket)).toBe('credential-invalid');
  });
});

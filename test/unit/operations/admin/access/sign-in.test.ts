import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { Problem } from '../../../../../src/domain/problem.js';
import { RIGHTS } from '../../../../../src/domain/rights.js';
import { createSignIn, type SignInRefusal } from '../../../../../src/operations/admin/access/sign-in.js';

const all = (token: string) => ({ token, may: RIGHTS, sources: [] });
const TOKENS = { ops: all('token-of-the-operators'), ci: all('token-of-the-pipeline') };

function request(authorization: string[], peer = '127.0.0.1'): IncomingMessage {
  return {
    headersDistinct: authorization.length === 0 ? {} : { authorization },
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
    const { authenticate } = createSignIn({ tokens: TOKENS });
    expect(authenticate(request(['Bearer token-of-the-operators'])).actor).toBe('ops');
    expect(authenticate(request(['bearer   token-of-the-pipeline'])).actor).toBe('ci');
  });

  it.each([
    [[]],
    [['Bearer token-of-the-operator']],
    [['Bearer token-of-the-operators token-of-the-pipeline']],
    [['Bearer token-of-the-operators', 'Bearer token-of-the-operators']],
    [['token-of-the-operators']],
    [['Bearer ']],
  ])('refuses %j', (authorization) => {
    const { authenticate } = createSignIn({ tokens: TOKENS });
    expect(codeOf(() => authenticate(request(authorization)))).toBe('credential-invalid');
  });

  it('bounds failed attempts per peer and minute, and never locks the right token out', () => {
    let now = 0;
    const { authenticate } = createSignIn({ tokens: TOKENS, attemptsPerMinute: 2, clock: () => now });
    const fail = (peer?: string) => codeOf(() => authenticate(request(['Bearer wrong'], peer)));
    expect([fail(), fail(), fail(), fail('::1')]).toEqual([
      'credential-invalid',
      'credential-invalid',
      'too-many-attempts',
      'credential-invalid',
    ]);
    expect(authenticate(request(['Bearer token-of-the-operators'])).actor).toBe('ops');
    now = 60_000;
    expect(fail()).toBe('credential-invalid');
    expect([fail(), fail()]).toEqual(['credential-invalid', 'too-many-attempts']);
    now = -86_400_000;
    expect(fail()).toBe('credential-invalid');
  });

  it('delays responses to a peer over the rate, and closes the connection when many are delayed', async () => {
    const { authenticate } = createSignIn({ tokens: TOKENS, attemptsPerMinute: 1, holdMs: 20 });
    const fail = () => {
      try {
        return authenticate(request(['Bearer wrong']));
      } catch (error) {
        return error as SignInRefusal;
      }
    };
    const refusals = Array.from({ length: 258 }, fail) as SignInRefusal[];
    expect(refusals.map(({ closing }) => closing)).toEqual([...Array(257).fill(false), true]);
    let released = 0;
    for (const { held } of refusals) void held.then(() => (released += 1));
    await Promise.resolve();
    await Promise.resolve();
    // The first is within the rate, the last one too many to be held.
    expect(released).toBe(2);
    await Promise.all(refusals.map(({ held }) => held));
    expect((fail() as SignInRefusal).closing).toBe(false);
  });

  it('reports the reason and the peer of a failure, never the presented token', () => {
    const failures: object[] = [];
    const signIn = createSignIn({ tokens: TOKENS, onFailure: (failure) => failures.push(failure) });
    codeOf(() => signIn.authenticate(request([])));
    codeOf(() => signIn.authenticate(request(['Bearer geheim', 'Bearer geheim'])));
    codeOf(() => signIn.authenticate(request(['Bearer geheim'], '203.0.113.9')));
    codeOf(() => signIn.authenticate(request(['Basic geheim'])));
    expect(failures).toMatchObject([
      { cause: 'missing', peer: '127.0.0.1', userAgent: null },
      { cause: 'repeated' },
      { cause: 'wrong', peer: '203.0.113.9' },
      { cause: 'wrong' },
    ]);
    expect(JSON.stringify(failures)).not.toContain('geheim');
  });
});

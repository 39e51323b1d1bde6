import { createHmac, scryptSync } from 'node:crypto';
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

  it('reports the reason and the peer of a failure, never the presented token', async () => {
    const failures: object[] = [];
    const signIn = createSignIn({ tokens: TOKENS, onFailure: (failure) => failures.push(failure) });
    codeOf(() => signIn.authenticate(request([])));
    codeOf(() => signIn.authenticate(request(['Bearer geheim', 'Bearer geheim'])));
    codeOf(() => signIn.authenticate(request(['Bearer geheim'], '203.0.113.9')));
    codeOf(() => signIn.authenticate(request(['Basic geheim'])));
    await expect(signIn.ticket('geheim', 'j1', request([]))).rejects.toThrow(/not valid/);
    await expect(signIn.ticket(`ops.1.${'A'.repeat(43)}`, 'j1', request([]))).rejects.toThrow(/expired/);
    expect(failures).toMatchObject([
      { cause: 'missing', peer: '127.0.0.1', userAgent: null },
      { cause: 'repeated' },
      { cause: 'wrong', peer: '203.0.113.9' },
      { cause: 'wrong' },
      { cause: 'ticket-wrong' },
      { cause: 'ticket-expired' },
    ]);
    expect(JSON.stringify(failures)).not.toContain('geheim');
  });
});

describe('a ticket', () => {
  it('opens the artefacts of one job, on every replica, for an hour, while its token is configured', async () => {
    let now = 1_000_000;
    const clock = () => now;
    const { ticket, expires } = await createSignIn({ tokens: TOKENS, clock }).issueTicket('ops', 'j1');
    const other = createSignIn({ tokens: TOKENS, clock });
    const open = (text: string, job = 'j1', by = other) =>
      by.ticket(text, job, request([])).then(
        ({ actor }) => actor,
        (error: Problem) => error.code,
      );
    expect(await open(ticket)).toBe('ops');
    expect(Date.parse(expires)).toBe(now + 3_600_000);
    expect(await open(ticket, 'j2')).toBe('credential-invalid');
    expect(await open(ticket.replace('ops', 'ci'))).toBe('credential-invalid');
    expect(await open(ticket.replace('460', '461'))).toBe('credential-invalid');
    expect(await open(`${ticket.slice(0, -2)}AA`)).toBe('credential-invalid');
    expect(await open('nonsense')).toBe('credential-invalid');
    const rotated = createSignIn({ tokens: { ...TOKENS, ops: all('another-token-of-operators') }, clock });
    expect(await open(ticket, 'j1', rotated)).toBe('credential-invalid');
    now += 3_600_000;
    expect(await open(ticket)).toBe('credential-invalid');
  });

  it('costs an attacker a scrypt of 32 MiB for each guessed token', async () => {
    const { ticket } = await createSignIn({ tokens: TOKENS, clock: () => 0 }).issueTicket('ops', 'j1');
    const salt = 'transcript-receiver artefact ticket of ops';
    const key = scryptSync(TOKENS.ops.token, salt, 32, { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 });
    const mark = createHmac('sha256', key).update('ops\n3600000\nj1').digest('base64url');
    expect(ticket).toBe(`ops.3600000.${mark}`);
  });

  it('has a key that is derived once per token, one at a time, and not for what has expired', async () => {
    const derived: string[] = [];
    let underWay = 0;
    const deriveKey = async (token: string, name: string) => {
      underWay += 1;
      derived.push(name);
      expect(underWay).toBe(1);
      await new Promise(setImmediate);
      underWay -= 1;
      return Buffer.from(token);
    };
    const signIn = createSignIn({ tokens: TOKENS, deriveKey });
    await expect(signIn.ticket(`ops.1.${'A'.repeat(43)}`, 'j1', request([]))).rejects.toThrow(/expired/);
    await expect(signIn.ticket(`no.9999999999999.${'A'.repeat(43)}`, 'j1', request([]))).rejects.toThrow();
    expect(derived).toEqual([]);
    const tickets = ['ops', 'ci', 'ops', 'ci'].map((name) => signIn.issueTicket(name, 'j1'));
    for (const { ticket } of await Promise.all(tickets)) await signIn.ticket(ticket, 'j1', request([]));
    expect(derived).toEqual(['ops', 'ci']);
  });
});

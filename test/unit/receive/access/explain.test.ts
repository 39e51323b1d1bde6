import { describe, expect, it } from '@jest/globals';
import { explain } from '../../../../src/receive/access/explain.js';
import { createSources } from '../../../../src/receive/access/sources.js';

const NOW = Date.parse('2026-01-15T12:00:00Z');
const egress = { eu1: ['192.0.2.1'], eu2: [], us1: ['198.51.100.1'], us2: [], au1: [] };
const options = {
  credentials: {
    main: { headers: ['X-Token: main-secret-main-secret'], notBefore: null, expires: null },
    old: { headers: ['X-Token: old-secret-old-secret'], notBefore: null, expires: NOW - 1 },
  },
  allow: ['eu1', '10.9.0.0/16'],
  allowMode: 'enforce' as const,
  contents: [],
  context: [],
  maxBytes: 1000,
  keyPrefix: '',
};
const sources = createSources(
  {
    default: options,
    trial: { ...options, allowMode: 'report' },
    open: { ...options, credentials: {} },
  },
  egress,
  ['10.0.0.0/24'],
);
const checkOf = (name: string) => sources.get(name)?.checkAccess;
const good = { 'X-Token': ['main-secret-main-secret'] };
const ask = (source: string, peer: string, headers: Record<string, string[]>) =>
  explain(sources, { source, peer, headers, now: NOW });

describe('explain', () => {
  it('says which rule and which credential let a request in', () => {
    expect(ask('default', '192.0.2.1', good)).toEqual({
      decision: 'accept',
      status: 200,
      reason: 'the address is admitted by eu1; credential main matches',
      clientIp: '192.0.2.1',
      region: 'eu1',
      rule: 'eu1',
      credential: 'main',
      gates: [
        { gate: 'source', passed: true, detail: 'the source default is configured', toPass: null },
        { gate: 'address', passed: true, detail: '192.0.2.1 is admitted by eu1', toPass: null },
        { gate: 'credential', passed: true, detail: 'the credential main matches', toPass: null },
      ],
    });
  });

  it('looks through trusted proxies as the receiver does', () => {
    const headers = { ...good, 'X-Forwarded-For': ['192.0.2.1, 10.0.0.2'] };
    expect(ask('default', '10.0.0.1', headers)).toMatchObject({ decision: 'accept', clientIp: '192.0.2.1' });
  });

  it('reads the value of a header as it arrives: without blanks around it, but with other spaces', () => {
    const padded = (value: string) => ask('default', '192.0.2.1', { 'X-Token': [value] }).decision;
    expect(padded(' \tmain-secret-main-secret ')).toBe('accept');
    expect(padded('\u00a0main-secret-main-secret')).toBe('refuse');
  });

  it('refuses an address it cannot read', () => {
    const headers = { ...good, 'x-forwarded-for': ['unknown'] };
    expect(ask('default', '10.0.0.1', headers)).toMatchObject({
      status: 403,
      clientIp: null,
      decision: 'refuse',
    });
  });

  it('asks for an IP address when the peer of the connection has none', () => {
    const { gates } = ask('default', '192.0.2', good);
    const toPass = expect.stringContaining('give the IP address');
    expect(gates).toContainEqual(expect.objectContaining({ gate: 'address', passed: false, toPass }));
  });

  it('lets an address pass in report mode and says what enforcement would do', () => {
    expect(ask('trial', '203.0.113.1', good)).toMatchObject({
      decision: 'accept',
      reason: expect.stringContaining('would be refused (address-refused)'),
      rule: null,
    });
    expect(ask('trial', '203.0.113.1', {})).toMatchObject({ decision: 'refuse', status: 401 });
  });

  it('says that a source has no credentials', () => {
    expect(ask('open', '10.9.1.1', {})).toMatchObject({
      decision: 'accept',
      rule: '10.9.0.0/16',
      reason: expect.stringContaining('no credentials'),
    });
  });
});

describe('explain, gate by gate', () => {
  const gate = (name: string, explanation: ReturnType<typeof ask>) =>
    explanation.gates.find((report) => report.gate === name);

  it('reports the credential behind an address that is refused, and what would have to change for both', () => {
    const explanation = ask('default', '192.0.2.77', { 'x-token': ['wrong'] });
    expect(explanation.status).toBe(403);
    expect(gate('address', explanation)).toEqual({
      gate: 'address',
      passed: false,
      detail:
        '192.0.2.77 is not in sources.default.allow (eu1, 10.9.0.0/16); the nearest entry is eu1 (192.0.2.1/32)',
      toPass: 'sources.default.allow: [eu1, 10.9.0.0/16, 192.0.2.77]',
    });
    expect(gate('credential', explanation)).toMatchObject({
      passed: false,
      detail: 'no credential matches; main comes closest: x-token is different',
      toPass: expect.stringMatching(/^put the value of main in the job's auth_headers/),
    });
  });

  it('never advises to admit the address of a trusted proxy that sends no X-Forwarded-For', () => {
    const { status, gates } = ask('default', '10.0.0.1', good);
    expect(status).toBe(403);
    expect(gates).toContainEqual(
      expect.objectContaining({
        gate: 'address',
        toPass: expect.stringMatching(/^let 10\.0\.0\.1, .* append X-Forwarded-For/),
      }),
    );
  });

  it('names the region an address belongs to instead of the address', () => {
    expect(gate('address', ask('default', '198.51.100.1', good))?.toPass).toBe(
      'sources.default.allow: [eu1, 10.9.0.0/16, us1]',
    );
  });

  it('says that X-Forwarded-For was ignored, because of which peer, and what would make it count', () => {
    const headers = { ...good, 'x-forwarded-for': ['192.0.2.1'] };
    expect(gate('address', ask('default', '10.5.0.1', headers))).toMatchObject({
      passed: false,
      detail: expect.stringContaining(
        'X-Forwarded-For was ignored, because the peer 10.5.0.1 is not in receiver.trustedProxies',
      ),
      toPass: 'if 10.5.0.1 is your load balancer: receiver.trustedProxies: [10.5.0.1]; then 192.0.2.1 counts',
    });
  });

  it.each<[string, Record<string, string[]>, RegExp, RegExp]>([
    ['missing', {}, /main comes closest: x-token is missing/, /put the headers of main/],
    [
      'repeated',
      { 'x-token': ['main-secret-main-secret', 'main-secret-main-secret'] },
      /x-token is repeated/,
      /send each header of main once/,
    ],
    [
      'expired',
      { 'x-token': ['old-secret-old-secret'] },
      /old matches, but expired at 2026-01-15T11:59:59.999Z/,
      /change sources\.default\.credentials\.old\.expires/,
    ],
  ])('says that a credential is %s', (_, headers, detail, toPass) => {
    expect(gate('credential', ask('default', '192.0.2.1', headers))).toMatchObject({
      passed: false,
      detail: expect.stringMatching(detail),
      toPass: expect.stringMatching(toPass),
    });
  });

  it('finds the credential that comes closest among those of several headers', () => {
    const lines = (tenant: string, secret: string) => ({
      headers: [`X-Tenant: ${tenant}`, `X-Key: ${secret}`],
      notBefore: null,
      expires: null,
    });
    const several = createSources(
      {
        two: {
          ...options,
          credentials: { a: lines('acme', 'aaaaaaaaaaaaaaaa'), b: lines('best', 'bbbbbbbbbbbbbbbb') },
        },
      },
      egress,
      [],
    );
    const headers = { 'x-tenant': ['best'], 'x-key': ['nope'] };
    const { gates } = explain(several, { source: 'two', peer: '192.0.2.1', headers, now: NOW });
    expect(gates[2]?.detail).toBe(
      'no credential matches; b comes closest: x-key is different (1 of 2 headers match)',
    );
  });

  it('shows no secret, neither a configured nor a presented one', () => {
    const headers = { 'x-token': ['presented-secret-presented'] };
    const text = JSON.stringify(ask('default', '203.0.113.1', headers));
    expect(text).not.toMatch(/presented-secret|main-secret|old-secret/);
  });

  it('names the configured sources for an unknown one', () => {
    expect(ask('nobody', '192.0.2.1', good).gates).toEqual([
      {
        gate: 'source',
        passed: false,
        detail: 'there is no source "nobody"; configured are default, trial, open',
        toPass: expect.stringMatching(/configured source/),
      },
    ]);
  });

  it('says that a source without credentials takes nothing forwarded', () => {
    expect(gate('credential', ask('open', '10.9.1.1', { via: ['1.1 proxy'] }))).toMatchObject({
      passed: false,
      detail: 'the source has no credentials and accepts no request with Via',
    });
  });
});

describe('compileAccessCheck', () => {
  it('does not tell the sender why a credential failed', () => {
    const gate = checkOf('default');
    const refusal = (value: string) =>
      gate?.({ peer: '192.0.2.1', headers: { 'x-token': [value] }, now: NOW }).problem?.message;
    expect(refusal('old-secret-old-secret')).toBe(refusal('wrong'));
  });

  it('records what enforcement would have refused in report mode', () => {
    const headers = { 'x-token': ['main-secret-main-secret'], 'x-forwarded-for': ['junk'] };
    const decision = checkOf('trial')?.({ peer: '10.0.0.1', headers, now: NOW });
    expect(decision).toMatchObject({ problem: null, wouldRefuse: 'address-unreadable', clientIp: null });
  });
});

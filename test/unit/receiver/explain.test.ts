import { describe, expect, it } from '@jest/globals';
import { compileClientAddress } from '../../../src/receiver/client-address.js';
import { explain } from '../../../src/receiver/explain.js';
import { compileGate } from '../../../src/receiver/gate.js';

const NOW = Date.parse('2026-01-15T12:00:00Z');
const egress = { eu1: ['192.0.2.1'], eu2: [], us1: ['198.51.100.1'], us2: [], au1: [] };
const options = {
  credentials: {
    main: { headers: ['X-Token: main-secret-main-secret'], notBefore: null, expires: null },
    old: { headers: ['X-Token: old-secret-old-secret'], notBefore: null, expires: NOW - 1 },
  },
  allow: ['eu1', '10.9.0.0/16'],
  allowMode: 'enforce' as const,
  egress,
  clientAddress: compileClientAddress(['10.0.0.0/24']),
};
const gates = new Map([
  ['default', compileGate(options)],
  ['trial', compileGate({ ...options, allowMode: 'report' })],
  ['open', compileGate({ ...options, credentials: {} })],
]);
const sources = new Map([...gates].map(([name, gate]) => [name, { gate }]));
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
    });
  });

  it('looks through trusted proxies as the receiver does', () => {
    const headers = { ...good, 'X-Forwarded-For': ['192.0.2.1, 10.0.0.2'] };
    expect(ask('default', '10.0.0.1', headers)).toMatchObject({ decision: 'accept', clientIp: '192.0.2.1' });
  });

  it('refuses an address before it looks at credentials', () => {
    expect(ask('default', '198.51.100.1', good)).toMatchObject({
      decision: 'refuse',
      status: 403,
      reason: expect.stringContaining('198.51.100.1'),
      region: 'us1',
      rule: null,
      credential: null,
    });
  });

  it('refuses an address it cannot read', () => {
    const headers = { ...good, 'x-forwarded-for': ['unknown'] };
    expect(ask('default', '10.0.0.1', headers)).toMatchObject({
      status: 403,
      clientIp: null,
      decision: 'refuse',
    });
  });

  it.each([
    [{}, /no header of any credential/],
    [{ 'x-token': ['wrong'] }, /match no credential/],
    [{ 'X-Token': ['main-secret-main-secret'], 'x-token': ['main-secret-main-secret'] }, /more than once/],
    [{ 'x-token': ['old-secret-old-secret'] }, /has expired/],
  ])('tells the operator why %j is refused', (headers, reason) => {
    const explanation = ask('default', '192.0.2.1', headers as Record<string, string[]>);
    expect(explanation).toMatchObject({
      decision: 'refuse',
      status: 401,
      reason: expect.stringMatching(reason),
    });
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

  it('knows only configured sources', () => {
    expect(ask('nobody', '192.0.2.1', good)).toMatchObject({ decision: 'refuse', status: 404 });
  });
});

describe('compileGate', () => {
  it('tells the sender nothing about why a credential failed', () => {
    const gate = gates.get('default');
    const refusal = (value: string) =>
      gate?.({ peer: '192.0.2.1', headers: { 'x-token': [value] }, now: NOW }).problem?.message;
    expect(refusal('old-secret-old-secret')).toBe(refusal('wrong'));
  });

  it('records what enforcement would have refused in report mode', () => {
    const headers = { 'x-token': ['main-secret-main-secret'], 'x-forwarded-for': ['junk'] };
    const decision = gates.get('trial')?.({ peer: '10.0.0.1', headers, now: NOW });
    expect(decision).toMatchObject({ problem: null, wouldRefuse: 'address-unreadable', clientIp: null });
  });
});

import { describe, expect, it } from '@jest/globals';
import { type Credential, compileAuthenticator } from '../../../../src/receive/access/authenticate.js';

const NOW = Date.parse('2026-01-15T12:00:00Z');
const always = { notBefore: null, expires: null };
const oldOne: Credential = { headers: ['X-Token: old-secret-old-secret'], ...always };
const newOne: Credential = { headers: ['X-Token: new-secret-new-secret'], ...always };
const pair: Credential = {
  headers: ['X-Tenant: acme', 'Authorization: Bearer pair-secret-pair-secret'],
  ...always,
};

describe('compileAuthenticator', () => {
  const check = compileAuthenticator({ old: oldOne, new: newOne, pair });

  it('accepts any one of several credentials and names it', () => {
    expect(check({ 'x-token': ['old-secret-old-secret'] }, NOW)).toEqual({ ok: true, credential: 'old' });
    expect(check({ 'x-token': ['new-secret-new-secret'] }, NOW)).toEqual({ ok: true, credential: 'new' });
  });

  // Rule: Authentication: callbacks: by `auth_headers`
  // Rule: Notification configuration: `auth_headers`: complete header lines
  it('wants every header line of a credential', () => {
    const authorization = ['Bearer pair-secret-pair-secret'];
    expect(check({ 'x-tenant': ['acme'], authorization }, NOW)).toEqual({ ok: true, credential: 'pair' });
    expect(check({ authorization }, NOW)).toEqual({ ok: false, reason: 'wrong', credential: null });
    expect(check({ 'x-tenant': ['acme'] }, NOW)).toMatchObject({ ok: false, reason: 'wrong' });
    expect(check({ 'x-tenant': ['other'], authorization }, NOW)).toMatchObject({
      ok: false,
      reason: 'wrong',
    });
  });

  it('does not mix lines of two credentials', () => {
    const mixed = compileAuthenticator({
      a: { headers: ['X-A: aaaaaaaaaaaaaaaa', 'X-B: bbbbbbbbbbbbbbbb'], ...always },
      b: { headers: ['X-A: cccccccccccccccc', 'X-B: dddddddddddddddd'], ...always },
    });
    expect(mixed({ 'x-a': ['aaaaaaaaaaaaaaaa'], 'x-b': ['dddddddddddddddd'] }, NOW).ok).toBe(false);
  });

  // Rule: Authentication: callbacks: by `auth_headers`
  it('refuses a request without any credential header', () => {
    expect(check({ accept: ['*/*'] }, NOW)).toEqual({ ok: false, reason: 'missing', credential: null });
    expect(check({ 'x-token': [] }, NOW)).toMatchObject({ reason: 'missing' });
  });

  it.each([
    'old-secret-old-secreT',
    'old-secret-old-secre',
    'old-secret-old-secret ',
    'old-secret-old-secret, old-secret-old-secret',
    '',
    'old-secret-old-secr\u00e9t',
    'x'.repeat(16_000),
  ])('refuses %p', (value) => {
    expect(check({ 'x-token': [value] }, NOW)).toMatchObject({ ok: false, reason: 'wrong' });
  });

  it('refuses a credential header that occurs twice, even with the right value both times', () => {
    const value = 'old-secret-old-secret';
    expect(check({ 'x-token': [value, value] }, NOW)).toMatchObject({ ok: false, reason: 'repeated' });
    expect(check({ 'x-token': ['wrong', value] }, NOW)).toMatchObject({ ok: false, reason: 'repeated' });
  });

  it('refuses a repeated header of another credential beside a valid one', () => {
    const headers = { 'x-token': ['old-secret-old-secret'], authorization: ['Bearer a', 'Bearer b'] };
    expect(check(headers, NOW)).toMatchObject({ ok: false, reason: 'repeated' });
  });

  it('does not mind other headers that occur twice', () => {
    expect(check({ 'x-token': ['old-secret-old-secret'], 'x-other': ['1', '2'] }, NOW).ok).toBe(true);
  });

  it('keeps to notBefore and expires, the end excluded', () => {
    const dated = compileAuthenticator({ dated: { ...oldOne, notBefore: NOW, expires: NOW + 1_000 } });
    const headers = { 'x-token': ['old-secret-old-secret'] };
    expect(dated(headers, NOW - 1)).toEqual({ ok: false, reason: 'not-yet-valid', credential: 'dated' });
    expect(dated(headers, NOW)).toEqual({ ok: true, credential: 'dated' });
    expect(dated(headers, NOW + 999)).toEqual({ ok: true, credential: 'dated' });
    expect(dated(headers, NOW + 1_000)).toEqual({ ok: false, reason: 'expired', credential: 'dated' });
  });

  it('does not reveal to a wrong secret that the right one has expired', () => {
    const dated = compileAuthenticator({ dated: { ...oldOne, expires: NOW - 1 } });
    expect(dated({ 'x-token': ['wrong'] }, NOW)).toEqual({ ok: false, reason: 'wrong', credential: null });
  });

  it('rotates: a valid credential counts although another matching one has expired', () => {
    const both = compileAuthenticator({ first: { ...oldOne, expires: NOW - 1 }, second: oldOne });
    expect(both({ 'x-token': ['old-secret-old-secret'] }, NOW)).toEqual({ ok: true, credential: 'second' });
  });

  it('accepts everything for a source without credentials', () => {
    expect(compileAuthenticator({})({}, NOW)).toEqual({ ok: true, credential: null });
  });

  it('is not fooled by headers named like parts of every object', () => {
    const odd = compileAuthenticator({ odd: { headers: ['constructor: aaaaaaaaaaaaaaaa'], ...always } });
    expect(odd({}, NOW)).toMatchObject({ ok: false, reason: 'missing' });
  });

  it.each([[[]], [['X-Token']], [['X-Token: a\r\nX-Other: b']], [['X-Token: ']]])(
    // Rule: Notification configuration: `auth_headers`: complete header lines
    'refuses to start with the header lines %j',
    (headers) => {
      expect(() => compileAuthenticator({ broken: { headers, ...always } })).toThrow(/broken/);
    },
  );
});

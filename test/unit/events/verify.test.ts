import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { type EventVerificationError, sign, verify } from '../../../src/events/events.js';

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ....').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another secret of similar length').toString('base64')}`;
const NOW = new Date('2026-03-04T05:06:07.890Z');
const EVENT = {
  specversion: '1.0',
  id: '01KJX3VZ8Q4M7T9B0C2D5E6F7G',
  type: 'transcript-receiver.job.stored.v1',
  source: '/callbacks/default',
  subject: 'job1',
  time: NOW.toISOString(),
  datacontenttype: 'application/json',
  data: { jobId: 'job1', items: [], name: 'Größe \u{1F4DE}' },
};
const BODY = JSON.stringify(EVENT);
const at = (now: Date) => ({ now: () => now });
const signed = (secrets: string | string[] = SECRET, body = BODY) => sign(EVENT.id, body, secrets, NOW);

function codeOf(act: () => unknown): string {
  try {
    act();
    return 'accepted';
  } catch (error) {
    return (error as EventVerificationError).code ?? (error as Error).name;
  }
}

describe('verify', () => {
  it('returns the event of a body as text or bytes, with headers of Node and of the Fetch API', () => {
    const bytes = new Uint8Array(Buffer.from(BODY));
    for (const body of [BODY, bytes, Buffer.from(BODY)]) {
      expect(verify(body, signed(), SECRET, at(NOW))).toEqual(EVENT);
      expect(verify(body, new Headers({ ...signed() }), [OTHER, SECRET], at(NOW))).toEqual(EVENT);
    }
    const headers = Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]);
    expect(verify(BODY, Object.fromEntries(headers), SECRET, at(NOW))).toEqual(EVENT);
  });

  it('accepts either secret while one is rotated', () => {
    expect(verify(BODY, signed([OTHER, SECRET]), SECRET, at(NOW))).toEqual(EVENT);
    expect(verify(BODY, signed(SECRET), [OTHER, SECRET], at(NOW))).toEqual(EVENT);
  });

  it.each<[string, string, () => unknown]>([
    ['another secret', 'signature-mismatch', () => verify(BODY, signed(OTHER), SECRET, at(NOW))],
    ['a changed body', 'signature-mismatch', () => verify(`${BODY} `, signed(), SECRET, at(NOW))],
    [
      'a changed id',
      'signature-mismatch',
      () => verify(BODY, { ...signed(), 'webhook-id': 'x' }, SECRET, at(NOW)),
    ],
    [
      'a changed timestamp',
      'signature-mismatch',
      () => verify(BODY, { ...signed(), 'webhook-timestamp': '1772600768' }, SECRET, at(NOW)),
    ],
    [
      'a signature of another version',
      'signature-mismatch',
      () => {
        const headers = signed();
        const v1a = headers['webhook-signature'].replace('v1,', 'v1a,');
        return verify(BODY, { ...headers, 'webhook-signature': v1a }, SECRET, at(NOW));
      },
    ],
    [
      'the beginning of a signature',
      'signature-mismatch',
      () => verify(BODY, { ...signed(), 'webhook-signature': 'v1,AAAA v1, v1' }, SECRET, at(NOW)),
    ],
    ['no headers', 'header-missing', () => verify(BODY, {}, SECRET, at(NOW))],
    [
      'an empty header',
      'header-missing',
      () => verify(BODY, { ...signed(), 'webhook-id': '' }, SECRET, at(NOW)),
    ],
    [
      'a repeated header',
      'header-repeated',
      () => verify(BODY, { ...signed(), 'webhook-id': ['a', 'b'] }, SECRET, at(NOW)),
    ],
    [
      'a timestamp that is no number',
      'timestamp-invalid',
      () => verify(BODY, { ...signed(), 'webhook-timestamp': '1e9' }, SECRET, at(NOW)),
    ],
    ['an old event', 'timestamp-too-old', () => verify(BODY, signed(), SECRET, at(new Date(+NOW + 301_000)))],
    [
      'an event of the future',
      'timestamp-too-new',
      () => verify(BODY, signed(), SECRET, at(new Date(+NOW - 301_000))),
    ],
    ['what is not JSON', 'body-invalid', () => verify('{', signed(SECRET, '{'), SECRET, at(NOW))],
    ['null', 'body-invalid', () => verify('null', signed(SECRET, 'null'), SECRET, at(NOW))],
    [
      'what is not an event',
      'body-invalid',
      () => verify('{"text":""}', signed(SECRET, '{"text":""}'), SECRET, at(NOW)),
    ],
    ['a parsed body', 'TypeError', () => verify(EVENT as never, signed(), SECRET, at(NOW))],
    ['no secret', 'TypeError', () => verify(BODY, signed(), [], at(NOW))],
    ['an empty secret', 'TypeError', () => verify(BODY, signed(), 'whsec_', at(NOW))],
    ['a secret that is not base64', 'TypeError', () => verify(BODY, signed(), 'whsec_not base64', at(NOW))],
    ['a secret that is not set', 'TypeError', () => verify(BODY, signed(), [undefined as never], at(NOW))],
  ])('rejects %s: %s', (_case, code, act) => {
    expect(codeOf(act)).toBe(code);
  });

  it('takes the tolerance in seconds', () => {
    const late = at(new Date(+NOW + 900_000));
    expect(verify(BODY, signed(), SECRET, { ...late, toleranceSeconds: 901 })).toEqual(EVENT);
    expect(codeOf(() => verify(BODY, signed(), SECRET, { ...late, toleranceSeconds: 899 }))).toBe(
      'timestamp-too-old',
    );
  });
});

describe('beside the reference library of Standard Webhooks', () => {
  const secret = fc
    .uint8Array({ minLength: 1, maxLength: 64 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
  const event = fc.record({ text: fc.string({ unit: 'grapheme' }) }).map((data) => ({ ...EVENT, data }));
  const id = fc.string({ unit: fc.constantFrom(...'abcXYZ019_-.'), minLength: 1, maxLength: 64 });

  it('signs what the library accepts, and accepts what the library signs', () => {
    fc.assert(
      fc.property(secret, event, id, (key, sent, name) => {
        const body = JSON.stringify(sent);
        const now = new Date();
        const theirs = new Webhook(key).sign(name, now, body);
        const ours = sign(name, body, key, now);
        expect(ours['webhook-signature']).toBe(theirs);
        expect(new Webhook(key).verify(body, { ...ours })).toEqual(JSON.parse(body));
        expect(verify(Buffer.from(body), { ...ours, 'webhook-signature': theirs }, key)).toEqual(
          JSON.parse(body),
        );
      }),
    );
  });

  it('is accepted by the library with either of two secrets', () => {
    const headers = { ...sign(EVENT.id, BODY, [SECRET, OTHER]) };
    for (const key of [SECRET, OTHER]) expect(new Webhook(key).verify(BODY, headers)).toEqual(EVENT);
  });
});

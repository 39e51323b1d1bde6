import { describe, expect, it } from '@jest/globals';
import {
  buildNotificationConfig,
  notificationFaults,
} from '../../../../src/speech/batch/notification-config.js';

const url = 'https://transcripts.example/callbacks/default';
const entry = { url, auth_headers: ['X-Token: 0123456789abcdef'], contents: ['transcript'] };

describe('buildNotificationConfig', () => {
  it('writes an entry as the service documents it', () => {
    const request = { url, headers: ['X-Token: 0123456789abcdef'], contents: ['transcript', 'jobinfo'] };
    expect(buildNotificationConfig([request])).toEqual([
      { url, auth_headers: ['X-Token: 0123456789abcdef'], contents: ['transcript', 'jobinfo'] },
    ]);
  });

  // Rule: Contradictions: no `contents`: empty, or attachment `data_file`
  it('leaves out headers a source does not ask for, but never the contents: absent ones mean something else', () => {
    expect(buildNotificationConfig([{ url, headers: [], contents: [], method: 'PUT' }])).toEqual([
      { url, contents: [], method: 'PUT' },
    ]);
  });

  // Rule: Body rules: one of `transcript.srt`, `transcript.txt`: `text/plain`
  // Rule: Silences: a lone text: `.txt` or `.srt`
  it('says in the address which text a lone text is, because the body cannot', () => {
    const built = (contents: string[], at = url) =>
      buildNotificationConfig([{ url: at, headers: [], contents }])[0]?.url;
    expect(built(['transcript.srt'])).toBe(`${url}?contents=transcript.srt`);
    expect(built(['transcript.txt'], `${url}?a=1`)).toBe(`${url}?a=1&contents=transcript.txt`);
    expect(built(['transcript.srt', 'transcript.txt'])).toBe(url);
    expect(built(['transcript'])).toBe(url);
  });
});

describe('notificationFaults', () => {
  it('finds nothing wrong with up to three right entries', () => {
    expect(notificationFaults([entry, { url, contents: [] }, { url, method: 'put' }])).toEqual([]);
  });

  it.each<[string, Parameters<typeof notificationFaults>[0], RegExp]>([
    ['no entry', [], /no entry/],
    ['four entries', [entry, entry, entry, entry], /4 entries, .* at most 3/],
    ['a relative address', [{ url: '/callbacks/default' }], /entry 1: url is not an absolute/],
    ['another protocol', [{ url: 's3://bucket/key' }], /http:\/\/ or https/],
    ['a password in the address', [{ url: 'https://u:p@host/' }], /use auth_headers/],
    ['a fragment', [{ url: `${url}#x` }], /fragment/],
    ['an id in the address', [entry, { url: `${url}?id=1` }], /entry 2: url already has the parameter id/],
    ['a status in the address', [{ url: `${url}?status=x` }], /parameter status/],
    [
      'an unknown content',
      [{ url, contents: ['transcript.doc'] }],
      /"transcript.doc"; known are transcript, /,
    ],
    ['a content twice', [{ url, contents: ['data', 'data'] }], /"data" twice/],
    ['a malformed header line', [{ url, auth_headers: ['X-Token'] }], /auth_headers 1: .*<Header-Name>/],
    ['a header twice', [{ url, auth_headers: ['X-T: a', 'x-t: b'] }], /auth_headers 2: .*twice/],
    ['another method', [{ url, method: 'PATCH' }], /"PATCH" is not POST or PUT/],
    // Rule: Notification configuration: `url` is required, a web address
    // Rule: Notification configuration: `auth_headers`: complete header lines
    // Rule: Notification configuration: `contents`: `transcript`, `transcript.json-v2`, `transcript.txt`, `transcript.srt`, `data`,
    // `jobinfo` Rule: Notification configuration: `method`: `POST` (default) or `PUT` Rule: Notification configuration: at most 3 entries
    // Rule: Limits: at most 3 notification entries
  ])('objects to %s', (_, entries, expected) => {
    expect(notificationFaults(entries).join('\n')).toMatch(expected);
  });

  it('does not show secrets of malformed header lines', () => {
    expect(notificationFaults([{ url, auth_headers: ['X-Token: geheim\n', 'geheim'] }]).join()).not.toContain(
      'geheim',
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { isOwnHost } from '../../../../../src/operations/admin/access/own-host.js';

describe('isOwnHost', () => {
  it.each([
    '127.0.0.1:8081',
    '10.2.3.4',
    '[::1]:8081',
    '[fd00::7]',
    'localhost:8081',
    'LOCALHOST.',
    'receiver:8081',
    'receiver-0.receiver.prod.svc:8081',
    'receiver.prod.svc.cluster.local',
    'node7.internal:8081',
    'Receiver.Example.com:443',
  ])('knows %s', (host) => {
    expect(isOwnHost(host, ['receiver.example.com'])).toBe(true);
  });

  it.each([
    'evil.example.com:8081',
    'localhost.evil.example.com',
    '127.0.0.1.evil.example.com',
    'evil.example.com.',
    'receiver.example.com.evil.example',
    'user@localhost.evil.example',
    'a.b@c.d',
    '1.2.3',
    '',
  ])('does not know %j', (host) => {
    expect(isOwnHost(host, ['receiver.example.com'])).toBe(false);
  });

  it('treats a request without Host as not sent by a browser', () => {
    expect(isOwnHost(undefined, [])).toBe(true);
  });
});

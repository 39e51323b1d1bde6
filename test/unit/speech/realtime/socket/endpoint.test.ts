import { describe, expect, it } from '@jest/globals';
import { connectSession, RealtimeConfigError } from '../../../../../src/speech/realtime/realtime.js';
import { startTimeoutFor } from '../../../../../src/speech/realtime/session/session-settings.js';
import {
  type EndpointOptions,
  sessionAddresses,
} from '../../../../../src/speech/realtime/socket/endpoint.js';

const HOSTS = { eu1: 'eu.rt.example.com', global: 'rt.example.com', au1: 'wss://au.rt.example.com:444' };
const urls = (options: EndpointOptions) =>
  sessionAddresses(options).map(({ region, url }) => `${region} ${url.href}`);

describe('session addresses', () => {
  // Rule: Realtime: Regional hosts and WebSocket connections: global and regional hosts: `global`, `eu1`, `au1`
  it('are wss://host/v2, the global host first', () => {
    expect(urls({ hosts: HOSTS })).toEqual([
      'global wss://rt.example.com/v2',
      'eu1 wss://eu.rt.example.com/v2',
      'au1 wss://au.rt.example.com:444/v2',
    ]);
  });

  // Rule: Realtime: Regional hosts and WebSocket connections: agent path /v2/agent
  it('are /v2/agent on the same hosts for agent sessions', () => {
    expect(urls({ hosts: HOSTS, service: 'agent', region: 'eu1' })).toEqual([
      'eu1 wss://eu.rt.example.com/v2/agent',
    ]);
  });

  // Rule: Realtime: Regional hosts and WebSocket connections: a regional host is never left
  it('hold the pinned region alone', () => {
    expect(urls({ hosts: HOSTS, region: 'au1' })).toEqual(['au1 wss://au.rt.example.com:444/v2']);
  });

  // Rule: Realtime: Regional hosts and WebSocket connections: a regional host is never left
  it('never stand in for a pinned region that has no host', () => {
    expect(() => sessionAddresses({ hosts: HOSTS, region: 'us1' })).toThrow('hosts.us1');
  });

  it.each(['http://x.example.com', 'wss://x.example.com/v2', 'wss://user@x.example.com', 'a host', ''])(
    'refuse the host %p',
    (host) => {
      expect(() => sessionAddresses({ hosts: { global: host } })).toThrow(RealtimeConfigError);
    },
  );

  it('refuse ws:// beyond loopback unless it is allowed', () => {
    const hosts = { global: 'ws://on-premises.example.com' };
    expect(() => sessionAddresses({ hosts })).toThrow('wss:// beyond loopback');
    expect(urls({ hosts, allowInsecure: true })).toEqual(['global ws://on-premises.example.com/v2']);
    expect(urls({ hosts: { global: 'ws://[::1]:9' } })).toEqual(['global ws://[::1]:9/v2']);
  });
});

describe('session options', () => {
  it.each([
    ['audio.unacknowledgedFrames', { audio: { unacknowledgedFrames: 501 } }],
    ['audio.unacknowledgedSeconds', { audio: { unacknowledgedSeconds: 10.1 } }],
    ['audio.frameBytes', { audio: { frameBytes: 0 } }],
    ['startTimeoutMs', { startTimeoutMs: 0 }],
    ['inactivityTimeoutMs', { inactivityTimeoutMs: -1 }],
    // Rule: Realtime: Limits: limits cannot be raised by options
  ])('cannot exceed the limits of the document: %s', async (path, options) => {
    const connecting = connectSession({ hosts: HOSTS, credential: { apiKey: 'k' }, ...options });
    await expect(connecting).rejects.toMatchObject({ faults: [{ path }] });
  });

  // Rule: Realtime: Limits: `additional_vocab`: start up to 15 s
  it('leave a start with additional_vocab more than its 15 s', () => {
    expect(startTimeoutFor({ language: 'en' })).toBeGreaterThan(15_000);
    expect(startTimeoutFor({ language: 'en', additional_vocab: ['x'] })).toBeGreaterThan(30_000);
  });
});

import { describe, expect, it } from '@jest/globals';
import {
  batchAddress,
  configuredRegions,
  createSpeechClients,
  webAddress,
} from '../../../src/speech/speech.js';

describe('regions', () => {
  // Rule: Hosts: batch: `eu1`, `eu2`, `us1`, `us2`, `au1`
  it('in use are those with an address', () => {
    expect(
      configuredRegions({
        us1: { batchUrl: 'http://b' },
        eu1: { batchUrl: 'http://a' },
        au1: { batchUrl: null },
      }),
    ).toEqual(['us1', 'eu1']);
  });

  // Rule: Hosts: batch: `eu1`, `eu2`, `us1`, `us2`, `au1`
  it('unknown are named together with those that have an address', () => {
    expect(() => batchAddress('eu9', {})).toThrow(
      'no batchUrl is configured for region "eu9"; no region has one',
    );
    const addresses = {
      eu1: { batchUrl: 'http://a' },
      eu3: { batchUrl: 'http://b' },
      us1: { batchUrl: null },
    };
    for (const region of ['eu9', 'us1', 'constructor']) {
      expect(() => batchAddress(region, addresses)).toThrow(
        `no batchUrl is configured for region "${region}"; regions with one are eu1, eu3`,
      );
    }
    expect(batchAddress('eu3', addresses).href).toBe('http://b/');
  });

  it.each(['ftp://a', 'a', 'http://user:secret@a', 'http://a/?token=secret'])(
    'cannot be at %s',
    (address) => {
      let text = '';
      try {
        webAddress(address, 'batchUrl');
      } catch (error) {
        text = String(error);
      }
      expect(text).toContain('batchUrl');
      expect(text).not.toContain('secret');
    },
  );

  it('need an API key, and temporary keys an address to come from', () => {
    const regions = { eu1: { batchUrl: 'http://a' } };
    expect(() => createSpeechClients({ apiKey: null, regions }).jobs('eu1')).toThrow(
      'apiKey is not configured',
    );
    const clients = createSpeechClients({ apiKey: 'k', auth: 'temporaryKey', regions });
    expect(() => clients.jobs('eu1')).toThrow('keysUrl is not configured');
  });
});

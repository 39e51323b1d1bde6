import { describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.js';
import { probeStore } from '../../src/store/probe/probe-store.js';
import { openRealBucket } from '../support/store/real-s3.js';

describe('the probe on a real S3 server', () => {
  it('finds it trustworthy, and leaves nothing behind', async () => {
    const place = await openRealBucket();
    const store = await openStore(place.options);
    try {
      const report = await probeStore(store);
      expect(report).toMatchObject({ trustworthy: true });
      for await (const { key } of store.list('')) throw new Error(`${key} was left`);
      expect(await store.sweepUploads(new Date(Date.now() + 3_600_000))).toBe(0);
    } finally {
      await store.close();
      await place.dispose();
    }
  });

  it('finds a wrong secret and says so without repeating it', async () => {
    const place = await openRealBucket();
    const store = await openStore({
      ...place.options,
      s3: { ...place.options.s3, secretAccessKey: 'wrong-secret' },
    });
    const report = await probeStore(store);
    await store.close();
    expect(report.writable).toBe(false);
    expect(report.findings[0]).toMatch(/secret key is wrong/);
    expect(report.findings[0]).not.toMatch(/wrong-secret/);
  });
});

import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openStore } from '../../../src/store/open-store.js';

describe('opening a store', () => {
  it.each([
    ['file:./data', `file:${resolve('data')}`],
    ['file:///var/my%20data', 'file:/var/my data'],
    ['s3://my.bucket-1/a/b/', 's3://my.bucket-1/a/b/'],
  ])('takes %s', async (url, location) => {
    const store = await openStore({ url, s3: { region: 'eu-west-1' } });
    expect(store.location).toBe(location);
    expect(store.partSize).toBe(8 * 1024 * 1024);
    await store.close();
  });

  it('refuses addresses that name no store', async () => {
    await expect(openStore({ url: 's3://UPPER' })).rejects.toThrow(/should be s3:.*3 to 63/);
  });

  it('refuses part sizes that S3 does', async () => {
    const opening = openStore({ url: 's3://bucket', partSize: 1024, s3: { region: 'eu-west-1' } });
    await expect(opening).rejects.toThrow(/5 MiB to 1 GiB/);
  });
});

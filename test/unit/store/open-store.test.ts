import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openStore } from '../../../src/store/open-store.js';
import { parseStoreLocation } from '../../../src/store/store-location.js';

describe('opening a store', () => {
  it.each([
    ['file:./data', `file:${resolve('data')}`],
    ['file:data/x', `file:${resolve('data/x')}`],
    ['file:/var/data', 'file:/var/data'],
    ['file:///var/my%20data', 'file:/var/my data'],
    ['s3://bucket', 's3://bucket/'],
    ['s3://my.bucket-1/a/b/', 's3://my.bucket-1/a/b/'],
    ['s3://bucket/a', 's3://bucket/a/'],
  ])('takes %s', async (url, location) => {
    const store = await openStore({ url, s3: { region: 'eu-west-1' } });
    expect(store.location).toBe(location);
    expect(store.partSize).toBe(8 * 1024 * 1024);
    await store.close();
  });

  it.each([
    ['', /expected file:<folder> or s3:/],
    ['./data', /expected file:<folder> or s3:/],
    ['http://host/data', /expected file:<folder> or s3:/],
    ['file:', /folder is missing/],
    ['file://host/data', /absolute path/],
    ['s3:bucket', /s3:\/\/<bucket>\/<prefix>/],
    ['s3://', /s3:\/\/<bucket>\/<prefix>/],
    ['s3://UPPER', /3 to 63/],
    ['s3://bucket/a//b', /prefix is not usable/],
    ['s3://bucket/../b', /prefix is not usable/],
    [`s3://bucket/${'a'.repeat(128)}`, /prefix is not usable/],
  ])('refuses %j and says what is expected', (url, message) => {
    expect(() => parseStoreLocation(url)).toThrow(message);
  });

  it('does not repeat keys that somebody put into the URL', () => {
    expect(() => parseStoreLocation('s3://AKIA:geheim@bucket/x')).toThrow(/^(?!.*geheim)/);
  });

  it('refuses part sizes that S3 does', async () => {
    const opening = openStore({ url: 's3://bucket', partSize: 1024, s3: { region: 'eu-west-1' } });
    await expect(opening).rejects.toThrow(/5 MiB to 5 GiB/);
  });
});

import { describe, expect, it } from '@jest/globals';
import { readStoreLocation } from '../../../../src/lib/text/store-location.js';

describe('the address of a store', () => {
  it.each([
    ['file:./data', { kind: 'file', directory: './data' }],
    ['file:/var/my%20data', { kind: 'file', directory: '/var/my%20data' }],
    ['file:///var/my%20data', { kind: 'file', directory: '/var/my data' }],
    ['s3://bucket', { kind: 's3', bucket: 'bucket', prefix: '' }],
    ['s3://bucket/', { kind: 's3', bucket: 'bucket', prefix: '' }],
    ['s3://my.bucket-1/a/b', { kind: 's3', bucket: 'my.bucket-1', prefix: 'a/b/' }],
    ['s3://bucket/.hidden/', { kind: 's3', bucket: 'bucket', prefix: '.hidden/' }],
    [`s3://bucket/${'a'.repeat(127)}`, { kind: 's3', bucket: 'bucket', prefix: `${'a'.repeat(127)}/` }],
  ])('%s is understood', (address, location) => {
    expect(readStoreLocation(address)).toEqual(location);
  });

  it.each([
    ['', /^file:<directory> or s3:/],
    ['./data', /^file:<directory> or s3:/],
    ['http://host/data', /^file:<directory> or s3:/],
    ['file:', /with a directory/],
    ['file:a\0b', /with a directory/],
    ['file:~/data', /without ~/],
    ['s3://media--use1-az4--x-s3/transcripts', /general purpose bucket/],
    ['s3://media-abc123--op-s3/transcripts', /bucket in one region/],
    ['s3://mfzwi23gnjvgw.mrap', /bucket in one region/],
    ['file://host/data', /three slashes/],
    ['file:///%zz', /percent-encoded/],
    ['s3:bucket', /bucket name/],
    ['s3://', /bucket name/],
    ['s3://UPPER', /bucket name/],
    ['s3://a_b', /bucket name/],
    ['s3://a..b', /bucket name/],
    ['s3://bucket\n/x', /bucket name/],
    ['s3://bucket/a//b', /single slashes/],
    ['s3://bucket/../b', /single slashes/],
    ['s3://bucket/a b', /single slashes/],
    [`s3://bucket/${'a'.repeat(128)}`, /up to 127/],
  ])('%j is rejected with the correct form', (address, fault) => {
    expect(readStoreLocation(address)).toEqual({ fault: expect.stringMatching(fault) });
  });

  it('does not repeat keys that it contains', () => {
    const read = readStoreLocation('s3://AKIA:geheim@bucket/x');
    expect(JSON.stringify(read)).toMatch(/without keys/);
    expect(JSON.stringify(read)).not.toMatch(/geheim/);
  });
});

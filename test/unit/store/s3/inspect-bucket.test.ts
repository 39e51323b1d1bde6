import { describe, expect, it } from '@jest/globals';
import { endsIncompleteUploads } from '../../../../src/store/s3/inspect-bucket.js';

const ABORT = { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 3 } };

describe('a lifecycle rule ends incomplete uploads', () => {
  it.each([
    ['of the whole bucket', { Status: 'Enabled', Filter: { Prefix: '' }, ...ABORT }, true],
    ['of the whole bucket, without a filter', { Status: 'Enabled', ...ABORT }, true],
    ['of the prefix', { Status: 'Enabled', Filter: { Prefix: 'a/' }, ...ABORT }, true],
    ['of the prefix, in the old form', { Status: 'Enabled', Prefix: 'a/', ...ABORT }, true],
    ['of another prefix', { Status: 'Enabled', Filter: { Prefix: 'b/' }, ...ABORT }, false],
    ['of a part of the prefix only', { Status: 'Enabled', Filter: { Prefix: 'a/b/jobs/' }, ...ABORT }, false],
    ['when disabled', { Status: 'Disabled', Filter: { Prefix: '' }, ...ABORT }, false],
    ['when it expires objects only', { Status: 'Enabled', Expiration: { Days: 1 } }, false],
  ] as const)('%s: %#', (_, rule, ends) => {
    expect(endsIncompleteUploads([rule], 'a/b/')).toBe(ends);
  });

  it('not without rules', () => {
    expect(endsIncompleteUploads([], '')).toBe(false);
  });
});

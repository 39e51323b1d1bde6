import { describe, expect, it } from '@jest/globals';
import { endsIncompleteUploads, readLifecycle } from '../../../../../src/store/s3/bucket/bucket-lifecycle.js';
import { openStandInPlace } from '../../../../support/store/stand-in-store.js';

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

describe('the lifecycle rules of a bucket', () => {
  it('say when objects below the prefix of the store end; without rules never, unread not at all', async () => {
    const { standIn, options, dispose } = await openStandInPlace({ retries: 0 });
    const inspect = () => readLifecycle({ bucket: 'bucket', prefix: 'a/', settings: options.s3 ?? {} });
    try {
      expect((await inspect()).daysUntilEnd?.('ledger/x', {})).toBeNull();
      standIn.state.lifecycle =
        '<Rule><Status>Enabled</Status><Filter><Prefix>a/ledger/</Prefix></Filter><Expiration><Days>9</Days></Expiration></Rule>' +
        '<Rule><Status>Enabled</Status><Filter><Tag><Key>kind</Key><Value>data</Value></Tag></Filter><Expiration><Days>30</Days></Expiration></Rule>';
      const { daysUntilEnd } = await inspect();
      expect(daysUntilEnd?.('ledger/x', {})).toBe(9);
      expect(daysUntilEnd?.('jobs/j/data', { kind: 'data' })).toBe(30);
      expect(daysUntilEnd?.('jobs/j/data', {})).toBeNull();
      standIn.misbehave = () => ({ kind: 'answer', status: 403, code: 'AccessDenied' });
      expect(await inspect()).toMatchObject({
        daysUntilEnd: null,
        endsIncompleteUploads: { unknown: '403 AccessDenied' },
      });
    } finally {
      await dispose();
    }
  });
});

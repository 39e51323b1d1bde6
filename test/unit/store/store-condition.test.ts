import { describe, expect, it } from '@jest/globals';
import { fileStoreError } from '../../../src/store/file/file-errors.js';
import { StoreError, StoreGoneError } from '../../../src/store/object-store.js';
import { boundedStore } from '../../../src/store/probe/bounded-store.js';
import { conditionOf, isRefusal } from '../../../src/store/store-condition.js';
import { adviceOf, remedyOf } from '../../../src/store/store-remedies.js';
import { createMemoryStore } from '../../support/store/memory-store.js';
import type { Misbehaviour } from '../../support/store/s3-stand-in.js';
import { openStandInStore } from '../../support/store/stand-in-store.js';

const HEADERS = { contentType: 'text/plain', metadata: {} };

describe('the condition of the store, by a failed call', () => {
  it.each([
    ['ENOSPC', 'full', /Free space/],
    ['EDQUOT', 'over-quota', /quota/],
    ['EROFS', 'read-only', /writable/],
    ['EACCES', 'denied', /permissions/],
    ['EXDEV', 'mounted-inside', /Mount it at the store folder itself/],
    ['ESTALE', 'unreachable', /the network/],
    ['EMFILE', 'too-many-files', /limit of open files/],
    ['EIO', null, null],
  ] as const)('of files with %s is %s', (code, condition, remedy) => {
    const error = fileStoreError('create', 'k', Object.assign(new Error('raw'), { code }));
    expect(conditionOf(error)).toBe(condition);
    if (condition !== null) expect(remedyOf(condition)).toMatch(remedy);
  });

  it.each<[string, Misbehaviour, string | null]>([
    ['a missing bucket', { kind: 'answer', status: 404, code: 'NoSuchBucket' }, 'missing'],
    ['a 403', { kind: 'answer', status: 403, code: 'AccessDenied' }, 'denied'],
    ['a 403 without a code', { kind: 'page', status: 403, headers: { server: 'AmazonS3' } }, 'denied'],
    ['a spent quota', { kind: 'answer', status: 403, code: 'QuotaExceeded' }, 'over-quota'],
    ['a full server', { kind: 'answer', status: 507, code: 'XMinioStorageFull' }, 'full'],
    ['a full Ceph', { kind: 'answer', status: 507, code: 'InsufficientCapacity' }, 'full'],
    ['an unknown key', { kind: 'answer', status: 403, code: 'InvalidAccessKeyId' }, 'wrong-credentials'],
    ['a reset', { kind: 'reset' }, 'unreachable'],
    ['a page of a proxy', { kind: 'page' }, 'unreachable'],
    ['an internal error', { kind: 'answer', status: 500, code: 'InternalError' }, null],
  ])('of S3 with %s is named', async (_, fault, condition) => {
    const { store, standIn, close } = await openStandInStore({ retries: 0 });
    try {
      standIn.misbehave = () => fault;
      const error = await store.create('k', Buffer.from('x'), HEADERS).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StoreError);
      expect(conditionOf(error)).toBe(condition);
    } finally {
      await close();
    }
  });

  it('of a call that does not end in time is that the store is unreachable', async () => {
    const hanging = createMemoryStore(() => new Promise<void>(() => {}));
    const error = await boundedStore(hanging, 5)
      .head('k')
      .catch((thrown: unknown) => thrown);
    expect(conditionOf(error)).toBe('unreachable');
  });

  it('is that of the call behind an error, and null for a bug', () => {
    const full = new StoreError('create', 'no space', { condition: 'full' });
    expect(conditionOf(new StoreError('ledger', 'not written', { cause: full }))).toBe('full');
    expect(conditionOf(new StoreGoneError('its marker is gone'))).toBe('missing');
    expect(conditionOf(new TypeError('a bug'))).toBeNull();
  });

  it('refuses the next call as well, unless the network may be the reason', () => {
    expect((['full', 'read-only', 'denied', 'missing'] as const).every(isRefusal)).toBe(true);
    expect(isRefusal('unreachable')).toBe(false);
  });

  it('has words, and what to do', () => {
    expect(adviceOf('denied')).toMatch(/^The store denies access\. Check the permissions/);
  });
});

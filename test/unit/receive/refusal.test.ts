import { describe, expect, it } from '@jest/globals';
import type { Problem } from '../../../src/domain/problem.js';
import { assertClock } from '../../../src/ledger/hours.js';
import { asRefusal } from '../../../src/receive/receive.js';
import { BlockedKeyError, StoreError } from '../../../src/store/object-store.js';
import type { StoreCondition } from '../../../src/store/store-remedies.js';

const failed = (condition: StoreCondition | null) => new StoreError('create', 'at "jobs/a"', { condition });

describe('the refusal for a failed call of the store', () => {
  it.each<[string, StoreError]>([
    ['store-unavailable', failed(null)],
    ['store-unavailable', failed('denied')],
    ['store-full', failed('over-quota')],
    ['store-blocked', new BlockedKeyError('create', 'there is a link at "jobs/a"')],
    ['clock', failed('clock')],
  ])('is %s, a 503 that names no key', (code, error) => {
    const refusal = asRefusal(error);
    expect(refusal).toMatchObject({ code, status: 503, cause: error });
    expect((refusal as Problem).message).not.toMatch(/jobs/);
  });

  it('names the clock that the ledger must not be written with', () => {
    assertClock(5 * 60_000);
    let error: unknown;
    try {
      assertClock(-16 * 60_000);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({
      condition: 'clock',
      message: expect.stringMatching(/16 minutes ahead of the store's/),
    });
    expect(asRefusal(error)).toMatchObject({ code: 'clock' });
  });
});

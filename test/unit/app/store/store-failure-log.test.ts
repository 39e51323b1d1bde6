import { describe, expect, it } from '@jest/globals';
import { createStoreFailureLog } from '../../../../src/app/store/store-failure-log.js';

describe('the log of store failures', () => {
  it('has one line for a failure that repeats, another with their number ten minutes later, and one for a new kind', () => {
    let now = 0;
    const lines: unknown[] = [];
    const log = createStoreFailureLog(
      { error: (fields: object, text?: string) => void lines.push({ ...fields, text }) },
      () => now,
    );
    for (; now < 600_000; now += 5_000) {
      log.failed('store-probe', { reason: `no bucket, request id tx${now}`, condition: 'missing' });
    }
    const first = { event: 'store-probe', condition: 'missing', remedy: expect.stringContaining('bucket') };
    expect(lines).toEqual([{ ...first, text: 'no bucket, request id tx0' }]);
    log.failed('store-probe', { reason: 'no bucket', condition: 'missing' });
    expect(lines).toHaveLength(2);
    expect(lines.at(-1)).toEqual({ ...first, repeated: 119, text: 'no bucket' });
    log.failed('store-probe', { reason: 'no space', condition: 'full' });
    log.failed('sweep-failed', { reason: 'no space', condition: 'full' });
    expect(lines).toHaveLength(4);
    log.failed('sweep-failed', { reason: 'what it said', condition: null });
    expect(lines.at(-1)).toEqual({
      event: 'sweep-failed',
      condition: null,
      remedy: undefined,
      text: 'what it said',
    });
  });

  it('has one line for a failure without a condition that repeats with other keys and request ids', () => {
    const lines: unknown[] = [];
    const log = createStoreFailureLog(
      { error: (_: object, text?: string) => void lines.push(text) },
      () => 0,
    );
    const failed = (reason: string) => log.failed('store-probe', { reason, condition: null });
    for (const id of ['x1', 'x2', 'abc'])
      failed(`create: 500 InternalError at ".probe/${id}/write", request id ${id}`);
    for (const id of ['7354c8b3-d86a', 'af86dbc7-741d'])
      failed(`abort: parts of the upload of .probe/${id}/upload are left`);
    expect(lines).toEqual([expect.stringContaining('InternalError'), expect.stringContaining('are left')]);
  });

  it('counts a failure of each that it fails for by itself', () => {
    const lines: unknown[] = [];
    const log = createStoreFailureLog({ error: (fields: object) => void lines.push(fields) }, () => 0);
    for (let time = 0; time < 3; time += 1)
      for (const subscriber of ['crm', 'archive'])
        log.failed('events-delayed', { reason: `outbox/${subscriber}`, condition: null }, { subscriber });
    expect(lines).toMatchObject([{ subscriber: 'crm' }, { subscriber: 'archive' }]);
  });
});

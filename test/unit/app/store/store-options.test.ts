import { describe, expect, it } from '@jest/globals';
import { storeOptions } from '../../../../src/app/store/store-options.js';
import { parseConfig } from '../../../../src/config/config.js';

describe('the options of the store', () => {
  it('lock the whole ledger: a merged hour outlives its segments', () => {
    const lock = { mode: 'governance', days: 30 };
    const { s3 } = storeOptions(parseConfig({ store: { s3: { lock } } }));
    expect(s3?.lock).toEqual({ mode: 'GOVERNANCE', days: 30, folders: ['ledger/', 'ledger-hours/'] });
  });

  it('lock nothing by default', () => {
    expect(storeOptions(parseConfig({})).s3?.lock).toBeNull();
  });
});

import { afterEach, expect, it, jest } from '@jest/globals';
import { createAccessLedger } from '../../../../../src/operations/admin/access/access-ledger.js';

const MINUTE = 60_000;

afterEach(() => {
  jest.restoreAllMocks();
});

it('records a read again after a minute, also where the clock was set back', async () => {
  let passed = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => passed);
  const append = jest.fn(async () => undefined);
  const accesses = createAccessLedger({ append });
  const access = { actor: 'ops' };
  const read = () => accesses.read({ access, peer: '192.0.2.1', jobId: 'job1', source: null, item: null });
  await read();
  await read();
  expect(append).toHaveBeenCalledTimes(1);
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 24 * 60 * MINUTE);
  passed += MINUTE;
  await read();
  expect(append).toHaveBeenCalledTimes(2);
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import { adminApi } from '../../support/processes/admin-api.js';
import { startService } from '../../support/processes/running-service.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

async function verdict() {
  const service = await startService({ store: { url: `file:${fixture.folder}` } });
  try {
    return (await adminApi(service).get('/health')).body.verdict;
  } finally {
    await service.stop();
  }
}

describe('health after reconcile', () => {
  it('keeps an issue until a run that saw everything clears it', async () => {
    const { parts, simulator, lose } = fixture;
    await lose({}, { region: 'us1' });
    simulator.setStatus(await lose(), 'expired');
    simulator.setStatus(await lose(), 'expired');
    const missing = { code: 'jobs-failing', params: { jobs: 2, outcomes: { unrecoverable: 2 } } };
    await reconcile(parts);
    await reconcile(parts, { regions: ['us1'] });
    expect(await verdict()).toMatchObject({ level: 'failing', issues: [missing] });
    const denied = simulator.faults.add({ kind: 'answer', operation: 'list', status: 401 });
    await reconcile(parts);
    expect(await verdict()).toMatchObject({
      level: 'failing',
      issues: [
        missing,
        { code: 'reconcile-incomplete', params: { faults: 2, first: expect.stringMatching(/^eu1: .*401/) } },
        { code: 'expected-unknown', level: 'unknown' },
      ],
    });
    simulator.faults.remove(denied);
    await reconcile(parts);
    expect((await verdict()).issues).toMatchObject([missing]);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcile } from '../../../src/recovery/reconcile.js';
import { refetchAll } from '../../../src/recovery/refetch.js';
import { adminApi } from '../../support/processes/admin-api.js';
import { startService } from '../../support/processes/running-service.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

async function health() {
  const service = await startService({ store: { url: `file:${fixture.folder}` } });
  try {
    return (await adminApi(service).get('/health')).body;
  } finally {
    await service.stop();
  }
}

describe('health after reconcile', () => {
  it('keeps a problem until a run that saw everything clears it', async () => {
    const { parts, simulator, lose } = fixture;
    const good = await lose();
    simulator.setStatus(await lose(), 'expired');
    simulator.setStatus(await lose(), 'expired');
    const missing = '2 jobs are failing: 2 lost at the service.';
    await reconcile(parts);
    await refetchAll(parts, [good], {});
    expect(await health()).toMatchObject({ status: 'failing', problems: [missing] });
    const denied = simulator.faults.add({ kind: 'answer', operation: 'list', status: 401 });
    await reconcile(parts);
    expect(await health()).toMatchObject({
      status: 'failing',
      problems: [missing, expect.stringMatching(/did not see everything: eu1: .*401.* \(and 1 more\)/)],
    });
    simulator.faults.remove(denied);
    await reconcile(parts);
    expect((await health()).problems).toEqual([missing]);
  });
});

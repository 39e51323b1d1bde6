import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: RunningService;

beforeEach(async () => {
  folder = await temporaryFolder();
  service = await startService({ store: { url: `file:${folder.path}/data`, canaryInterval: '1s' } });
});

afterEach(async () => {
  await service.stop();
  await folder.remove();
});

const deliver = (id: string) =>
  fetch(`${service.publicUrl}/callbacks/default?id=${id}&status=success`, { method: 'POST', body: 'x' });

const said = (event: string) => service.log.filter((line) => line.event === event).map(({ msg }) => msg);

describe('a data folder that vanishes under a running receiver', () => {
  it('is a 503 and a message, is not made again, and is taken up again when it is back', async () => {
    expect((await deliver('before')).status).toBe(200);
    await rename(`${folder.path}/data`, `${folder.path}/away`);
    const refused = await deliver('during');
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'store-unavailable' });
    await until(() => said('store-not-writable').length > 0);
    expect(said('store-not-writable')).toEqual([
      expect.stringMatching(
        /data is not the store it was: its marker .* Bring the folder back \(mount its volume\)$/,
      ),
    ]);
    expect(existsSync(`${folder.path}/data`)).toBe(false);

    await rename(`${folder.path}/away`, `${folder.path}/data`);
    expect((await deliver('during')).status).toBe(200);
    await until(() => said('store-writable').length > 0);
  });
});

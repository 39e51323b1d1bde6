import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import { listKeys, readCompactedLedger, sortedTexts } from '../../support/ledger/compacted-ledger.js';
import { writeHour } from '../../support/ledger/file-ledger.js';
import { startReady } from '../../support/processes/receiver-process.js';
import { runCli } from '../../support/processes/run-cli.js';
import { runCommand } from '../../support/processes/run-command.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

/** The command uses the store alone, so the key need not be there. */
const NO_KEY = { apiKey: `\${file:/nowhere/key}` };
const HOUR = 3_600_000;
const SEGMENTS = { segments: 6, lines: 5 };

let folder: string;
let store: ObjectStore;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ path: folder, remove } = await temporaryFolder());
  store = await openStore({ url: `file:${folder}`, fsync: false });
});
afterEach(async () => {
  await store.close();
  await remove();
});

const settings = (more: object = {}) => ({
  NODE_CONFIG: JSON.stringify({
    store: { url: `file:${folder}` },
    sources: { intake: {} },
    ...more,
  }),
});
/** Begin of the hour so many hours ago. */
const hoursAgo = (hours: number) => Math.floor(Date.now() / HOUR) * HOUR - hours * HOUR;

describe('compact on the command line', () => {
  it('compacts whole hours and reports it', async () => {
    const lines = [
      ...(await writeHour(store, hoursAgo(100), SEGMENTS)),
      ...(await writeHour(store, hoursAgo(9), SEGMENTS)),
    ];
    await writeHour(store, hoursAgo(0), SEGMENTS);
    const first = await runCli(['compact'], settings({ speech: NO_KEY }));
    expect(first).toMatchObject({ code: 0, stderr: '' });
    // The day of the later hour may have ended.
    expect(first.stdout).toMatch(
      /^Compacted 2 hours: 60 lines of 12 segments in 2 files\.\nSummed up (1 day|2 days)\.\n$/,
    );
    const { code, stdout } = await runCommand(['compact', '--json'], settings());
    expect({ code, report: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      report: { hours: 0, files: 0, days: 0, deleted: 0, inProgress: 0, oldestOpen: null, faults: [] },
    });
    const { lines: compacted, leftOver } = await readCompactedLedger(store);
    expect(sortedTexts(compacted)).toEqual(sortedTexts(lines));
    expect(leftOver).toEqual([]);
  });

  it('looks at the hours again that are compacted already with --all and with --since', async () => {
    await writeHour(store, hoursAgo(200), SEGMENTS);
    await runCommand(['compact'], settings());
    const files = [...(await listKeys(store, 'ledger-parquet/')), ...(await listKeys(store, 'rollups/'))];
    for (const key of files) await store.delete(key);
    const again = await runCommand(['compact'], settings());
    expect(again.stdout).toMatch(/^No hour had anything to compact\. Hours of earlier runs .* --all\.\n$/);
    expect((await runCommand(['compact', '--since', '5d'], settings())).stdout).toMatch(/^No hour/);
    expect((await runCommand(['compact', '--all'], settings())).stdout).toMatch(/^Compacted 1 hour: /);
    expect(files).toHaveLength(2);
  });

  it('exits with 4 and names the hour when one could not be compacted', async () => {
    const key = '.compaction/dt=2026-03-04/hour=05/plan.json';
    await writeHour(store, Date.parse('2026-03-04T05:00:00Z'), SEGMENTS);
    await writeHour(store, hoursAgo(9), SEGMENTS);
    await store.create(key, Buffer.from('{"v":2}'), { contentType: 'application/json', metadata: {} });
    expect(await runCommand(['compact'], settings())).toEqual({
      code: 4,
      stdout: [
        'Compacted 1 hour: 30 lines of 6 segments in 1 file.',
        `error in dt=2026-03-04/hour=05/: read: ${key} is no plan of a compaction, or one of a newer version`,
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('does not say that nothing was to do when the store refuses', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const s3 = { endpoint, region: 'eu-central-1', forcePathStyle: true };
      const { code, stdout } = await runCommand(['compact'], {
        ...settings({ store: { url: 's3://bucket', s3 } }),
        AWS_ACCESS_KEY_ID: 'key',
        AWS_SECRET_ACCESS_KEY: 'secret',
      });
      expect({ code, lines: stdout.trim().split('\n') }).toEqual({
        code: 4,
        lines: [expect.stringMatching(/^error: .*AccessDenied/)],
      });
    } finally {
      server.close();
    }
  });

  it('rejects --all together with --since', async () => {
    const { code, stderr } = await runCommand(['compact', '--all', '--since', '7d'], settings());
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'transcript-receiver: --all and --since exclude each other\n',
    });
  });

  it('works beside the service, and stops at a signal with a state that the next run completes', async () => {
    const { NODE_CONFIG } = settings();
    const receiver = await startReady({
      ...JSON.parse(NODE_CONFIG),
      sources: { intake: { allowUnauthenticated: true } },
      // The plan that the signal waits for must be the command's own.
      ledger: { compact: false },
    });
    try {
      const lines = await writeHour(store, hoursAgo(9), { segments: 400, lines: 50 });
      const stopped = await runCli(['compact', '--json'], settings(), undefined, (kill) => {
        // A second signal would end the process at once.
        void until(async () => (await listKeys(store, '.compaction/')).length > 0).then(() =>
          kill('SIGTERM'),
        );
      });
      expect({ code: stopped.code, report: JSON.parse(stopped.stdout) }).toMatchObject({
        code: 4,
        report: { interrupted: true, files: 0, faults: [] },
      });
      const soon = await runCommand(['compact'], settings());
      expect(soon).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^1 hour left to another process/),
      });
      expect((await readCompactedLedger(store)).lines.length).toBeLessThan(lines.length);
    } finally {
      await receiver.destroy();
    }
  });
});

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hourAt } from '../../../src/ledger/hours.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import { writeHour } from '../../support/ledger/file-ledger.js';
import { runCli } from '../../support/processes/run-cli.js';
import { runCommand } from '../../support/processes/run-command.js';
import { openStandInPlace } from '../../support/store/stand-in-store.js';
import { storeSettings } from '../../support/store/store-settings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

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

async function listKeys(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

/** The lines of the objects that a record names. */
async function mergedTexts(): Promise<string[]> {
  const keys = await listKeys('ledger-hours/');
  const texts = keys
    .filter((key) => key.endsWith('.json'))
    .map(async (key) => {
      const { object } = JSON.parse(await readFile(join(folder, key), 'utf8')) as { readonly object: string };
      return gunzipSync(await readFile(join(folder, object)))
        .toString()
        .trimEnd()
        .split('\n');
    });
  return (await Promise.all(texts)).flat().sort();
}

describe('merge on the command line', () => {
  it('merges whole hours and reports it, and exits with 1 when there is nothing to do', async () => {
    const lines = [
      ...(await writeHour(store, hoursAgo(100), SEGMENTS)),
      ...(await writeHour(store, hoursAgo(9), SEGMENTS)),
    ];
    await writeHour(store, hoursAgo(0), SEGMENTS);
    const first = await runCommand(['merge'], settings({ speech: NO_KEY }));
    expect(first).toEqual({
      code: 0,
      stdout: 'Merged 2 hours: 60 lines of 12 segments in 2 objects.\n',
      stderr: '',
    });
    const { code, stdout } = await runCommand(['merge', '--json'], settings());
    expect({ code, report: JSON.parse(stdout) }).toMatchObject({
      code: 1,
      report: { hours: 0, records: 0, deleted: 0, oldestOpen: null, faults: [] },
    });
    expect(await mergedTexts()).toEqual(lines.map((line) => JSON.stringify(line)).sort());
  });

  it('looks at the hours again that are merged already with --all and with --since', async () => {
    await writeHour(store, hoursAgo(200), SEGMENTS);
    await writeHour(store, hoursAgo(190), SEGMENTS);
    await runCommand(['merge'], settings());
    // A late segment.
    const late = segmentKey({ hour: hourAt(hoursAgo(200)), writer: 'late', number: 1 });
    await store.create(late, Buffer.from('{}\n'), { contentType: 'application/x-ndjson', metadata: {} });
    const again = await runCommand(['merge'], settings());
    expect(again.stdout).toBe(
      'No hour had anything to merge. Older hours are looked at again with --since or --all.\n',
    );
    expect((await runCommand(['merge', '--since', '5d'], settings())).stdout).toBe(
      'No hour had anything to merge.\n',
    );
    expect((await runCommand(['merge', '--all'], settings())).stdout).toMatch(
      /^Merged 1 hour: 1 line of 1 segment /,
    );
  });

  it('exits with 3 and names what is lost', async () => {
    await writeHour(store, Date.parse('2026-03-04T05:00:00Z'), SEGMENTS);
    const keys: string[] = [];
    for await (const { key } of store.list('ledger/')) keys.push(key);
    await store.delete(keys[2] ?? '');
    const { code, stdout } = await runCommand(['merge'], settings());
    const writer = /hour=05\/(.*)~/.exec(keys[2] ?? '')?.[1];
    expect({ code, lines: stdout.trim().split('\n') }).toEqual({
      code: 3,
      lines: [
        'Merged 1 hour: 25 lines of 5 segments in 1 object.',
        `error in ledger/dt=2026-03-04/hour=05/: ledger/dt=2026-03-04/hour=05/ has lost number 3 of ${writer}`,
      ],
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
      const { code, stdout } = await runCommand(['merge'], {
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
    const { code, stderr } = await runCommand(['merge', '--all', '--since', '7d'], settings());
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'transcript-receiver: --all and --since exclude each other\n',
    });
  });

  it('stops at a signal with what the next run completes', async () => {
    const { standIn, options, dispose } = await openStandInPlace();
    const onS3 = await openStore(options);
    try {
      const hours = [9, 10, 11, 12, 13];
      const lines = await Promise.all(hours.map((each) => writeHour(onS3, hoursAgo(each), SEGMENTS)));
      let kill: (signal: NodeJS.Signals) => void = () => {};
      // A second signal would end the process at once.
      standIn.misbehave = ({ operation, attempt, key }) => {
        if (operation === 'PutObject' && key.endsWith('/1.json') && attempt === 1) {
          kill('SIGTERM');
          kill = () => {};
        }
        return null;
      };
      const environment = settings({ store: storeSettings(options) });
      const stopped = await runCli(['merge', '--json'], environment, undefined, (given) => {
        kill = given;
      });
      expect({ code: stopped.code, report: JSON.parse(stopped.stdout) }).toMatchObject({
        code: 3,
        report: { interrupted: true, faults: [] },
      });
      const merged = () => [...standIn.state.objects.keys()].filter((key) => key.endsWith('/1.json')).length;
      expect(merged()).toBeGreaterThan(0);
      expect(merged()).toBeLessThan(hours.length);
      const { code, stdout } = await runCommand(['merge', '--json'], environment);
      expect({ code, merged: merged() }).toEqual({ code: 0, merged: hours.length });
      expect(JSON.parse(stdout).lines + JSON.parse(stopped.stdout).lines).toBe(lines.flat().length);
    } finally {
      await onS3.close();
      await dispose();
    }
  });
});

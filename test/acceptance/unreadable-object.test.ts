import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { HOUR, hourAt } from '../../src/ledger/hours.js';
import { LEDGER_FOLDER } from '../../src/ledger/ledger-keys.js';
import { segmentKey } from '../../src/ledger/segment-key.js';
import type { Verdict } from '../../src/operations/issues/verdict-words.js';
import { recordingServer } from '../support/http/recording-server.js';
import { SECRET, storedLine } from '../support/outbox/subscribed.js';
import { adminApi, sendCallback } from '../support/processes/admin-api.js';
import { type ReceiverProcess, startReady } from '../support/processes/receiver-process.js';
import { startS3StandIn } from '../support/store/s3-stand-in.js';
import { standInS3 } from '../support/store/stand-in-store.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const TOKEN = 'a-token-of-more-than-twenty-characters';
const TEXT = { 'content-type': 'text/plain' };

/** A store that can refuse one object, and to list one folder. */
interface Place {
  readonly settings: Record<string, unknown>;
  /** Writes an object; one that is blocked can never be read before `unblock`. */
  put(key: string, text: string, isBlocked: boolean): Promise<void>;
  /** Neither it nor what is in it can be read. */
  blockFolder(key: string): Promise<void>;
  unblock(key: string): Promise<void>;
  close(): Promise<void>;
}

async function fileStore(): Promise<Place> {
  const folder = await temporaryFolder();
  return {
    settings: { url: `file:${folder.path}/store` },
    async put(key, text, isBlocked) {
      const path = join(folder.path, 'store', key);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(`${folder.path}/new`, text);
      await chmod(`${folder.path}/new`, isBlocked ? 0 : 0o600);
      await rename(`${folder.path}/new`, path);
    },
    blockFolder: (key) => chmod(join(folder.path, 'store', key), 0),
    unblock: (key) => chmod(join(folder.path, 'store', key), key.endsWith('/') ? 0o700 : 0o600),
    close: () => folder.remove(),
  };
}

async function s3Store(): Promise<Place> {
  const standIn = await startS3StandIn();
  const blocked = new Set<string>();
  standIn.misbehave = ({ operation, key, query }) =>
    (operation === 'GetObject' && blocked.has(key)) ||
    (operation === 'ListObjects' && blocked.has(query.get('prefix') ?? ''))
      ? { kind: 'answer', status: 403, code: 'AccessDenied' }
      : null;
  return {
    settings: { url: 's3://bucket', s3: standInS3(standIn) },
    async put(key, text, isBlocked) {
      if (isBlocked) blocked.add(key);
      standIn.state.put(key, Buffer.from(text), {});
    },
    blockFolder: async (key) => void blocked.add(key),
    unblock: async (key) => void blocked.delete(key),
    close: () => standIn.close(),
  };
}

/** What users see of a segment that cannot be read, of one behind it, of an older hour that cannot be listed, and of callbacks. */
interface Seen {
  readonly key: string;
  readonly folder: string;
  /** Codes of the issues of the ledger, while both are blocked and in the end. */
  readonly issues: readonly (readonly string[])[];
  readonly whileUnreadable: Listed;
  readonly afterRestart: Listed;
  readonly inTheEnd: Listed;
  /** Jobs of the events, in their order. */
  readonly events: readonly string[];
}

interface Listed {
  readonly jobs: readonly string[];
  readonly missing: readonly unknown[];
}

async function watch(open: () => Promise<Place>): Promise<Seen> {
  const [place, consumer, indices] = await Promise.all([open(), recordingServer(), temporaryFolder()]);
  const closing = [place.close, consumer.close, indices.remove];
  let receiver: ReceiverProcess | null = null;
  const issues: string[][] = [];
  const events = () => consumer.requests.map(({ body }) => String(JSON.parse(body.toString()).subject));

  async function start() {
    const settings = {
      store: place.settings,
      admin: { tokens: { ops: TOKEN } },
      ledger: { index: { path: indices.path } },
      subscribers: { crm: { url: `${consumer.url}/events`, secrets: [SECRET] } },
    };
    const started = await startReady(settings, {}, { obeysModes: true });
    receiver = started;
    const api = adminApi({ ...started, adminToken: TOKEN });
    const listed = async () => {
      const { deliveries, index } = (await api.get('/deliveries')).body;
      const jobs = deliveries.map(({ jobId }: { jobId: string }) => jobId).sort();
      return { jobs, missing: index.missing };
    };
    const noteIssues = async () => {
      const { verdict } = (await api.get('/health')).body as { verdict: Verdict };
      issues.push(verdict.issues.flatMap(({ topic, code }) => (topic === 'ledger' ? [code] : [])));
    };
    return { receiver: started, listed, noteIssues };
  }

  /** Until index and subscriber have it. */
  async function taken(job: string, listed: () => Promise<Listed>): Promise<Listed> {
    await until(() => events().includes(job));
    await until(async () => (await listed()).jobs.includes(job), 500);
    return listed();
  }

  try {
    const older = Date.now() - 3 * HOUR;
    const folder = LEDGER_FOLDER + hourAt(older);
    const line = JSON.stringify(storedLine({ jobId: 'older', receivedAt: new Date(older).toISOString() }));
    await place.put(
      segmentKey({ hour: hourAt(older), writer: 'another-replica', number: 1 }),
      `${line}\n`,
      false,
    );
    await place.blockFolder(folder);
    const first = await start();
    await sendCallback(first.receiver, 'id=first&status=success', 'text', TEXT);
    await until(() => events().includes('first'));
    const hour = hourAt(Date.now());
    const keyOf = (number: number) => segmentKey({ hour, writer: 'another-replica', number });
    const lineOf = (jobId: string) =>
      `${JSON.stringify(storedLine({ jobId, receivedAt: new Date().toISOString() }))}\n`;
    await place.put(keyOf(1), lineOf('unreadable'), true);
    await place.put(keyOf(2), lineOf('behind'), false);
    const whileUnreadable = await taken('behind', first.listed);
    await first.receiver.destroy();
    const second = await start();
    await sendCallback(second.receiver, 'id=later&status=success', 'text', TEXT);
    const afterRestart = await taken('later', second.listed);
    await second.noteIssues();
    await place.unblock(keyOf(1));
    await place.unblock(folder);
    await until(() => events().includes('unreadable'));
    second.receiver.signal('SIGTERM');
    await second.receiver.ended;
    // An index that is there reads again what is missing after a minute.
    await indices.remove();
    const third = await start();
    const inTheEnd = await taken('unreadable', third.listed);
    await third.noteIssues();
    return {
      key: keyOf(1),
      folder,
      issues,
      whileUnreadable,
      afterRestart,
      inTheEnd,
      // What was sent shortly before the kill may be sent again.
      events: [...new Set(events())],
    };
  } finally {
    await (receiver as ReceiverProcess | null)?.destroy();
    await Promise.all(closing.map((close) => close()));
  }
}

describe('a segment that cannot be read, and an hour that cannot be listed, although the store answers', () => {
  const stores = { 'a folder': fileStore, 'a bucket': s3Store };
  /** Each waits for pauses of production: all do so at the same time. */
  const seen = new Map<string, Promise<Seen>>();
  beforeAll(() => {
    for (const [name, open] of Object.entries(stores)) {
      const watched = watch(open);
      watched.catch(() => undefined);
      seen.set(name, watched);
    }
  });

  it.each(Object.keys(stores))(
    'of %s, are named, also after a kill, keep nothing newer from index and subscribers, and are taken once they can be read',
    async (name) => {
      const { key, folder, issues, whileUnreadable, afterRestart, inTheEnd, events } = (await seen.get(
        name,
      )) as Seen;
      const missing = [key, folder].map((each) => ({ key: each, segments: 1, unreadable: null }));
      expect(whileUnreadable).toEqual({ jobs: ['behind', 'first'], missing });
      expect(afterRestart).toEqual({ jobs: ['behind', 'first', 'later'], missing });
      expect(inTheEnd).toEqual({ jobs: ['behind', 'first', 'later', 'older', 'unreadable'], missing: [] });
      expect(issues).toEqual([['ledger-lines-unreadable'], []]);
      expect(events).toEqual(['first', 'behind', 'later', 'unreadable']);
    },
    300_000,
  );
});

import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hourAt } from '../../src/ledger/hours.js';
import { segmentKey } from '../../src/ledger/segment-key.js';
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

/** A store that can refuse one object. */
interface Place {
  readonly settings: Record<string, unknown>;
  /** Writes an object; one that is blocked can never be read before `unblock`. */
  put(key: string, text: string, isBlocked: boolean): Promise<void>;
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
    unblock: (key) => chmod(join(folder.path, 'store', key), 0o600),
    close: () => folder.remove(),
  };
}

async function s3Store(): Promise<Place> {
  const standIn = await startS3StandIn();
  const blocked = new Set<string>();
  standIn.misbehave = ({ operation, key }) =>
    operation === 'GetObject' && blocked.has(key)
      ? { kind: 'answer', status: 403, code: 'AccessDenied' }
      : null;
  return {
    settings: { url: 's3://bucket', s3: standInS3(standIn) },
    async put(key, text, isBlocked) {
      if (isBlocked) blocked.add(key);
      standIn.state.put(key, Buffer.from(text), {});
    },
    unblock: async (key) => void blocked.delete(key),
    close: () => standIn.close(),
  };
}

/** What users see of a segment that cannot be read, of one behind it, and of callbacks. */
interface Seen {
  readonly key: string;
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
  const events = () => consumer.requests.map(({ body }) => String(JSON.parse(body.toString()).subject));

  async function start(): Promise<{ receiver: ReceiverProcess; listed: () => Promise<Listed> }> {
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
    return { receiver: started, listed };
  }

  /** Until index and subscriber have it. */
  async function taken(job: string, listed: () => Promise<Listed>): Promise<Listed> {
    await until(() => events().includes(job));
    await until(async () => (await listed()).jobs.includes(job), 500);
    return listed();
  }

  try {
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
    first.receiver.signal('SIGTERM');
    await first.receiver.ended;
    const second = await start();
    await sendCallback(second.receiver, 'id=later&status=success', 'text', TEXT);
    const afterRestart = await taken('later', second.listed);
    await place.unblock(keyOf(1));
    await until(() => events().includes('unreadable'));
    second.receiver.signal('SIGTERM');
    await second.receiver.ended;
    // An index that is there reads again what is missing after a minute.
    await indices.remove();
    const inTheEnd = await taken('unreadable', (await start()).listed);
    return { key: keyOf(1), whileUnreadable, afterRestart, inTheEnd, events: events() };
  } finally {
    await (receiver as ReceiverProcess | null)?.destroy();
    await Promise.all(closing.map((close) => close()));
  }
}

describe('a segment that cannot be read although the store answers', () => {
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
    'of %s, is named, keeps nothing newer from index and subscribers, and is taken by both once it can be read',
    async (name) => {
      const { key, whileUnreadable, afterRestart, inTheEnd, events } = (await seen.get(name)) as Seen;
      const missing = [{ key, segments: 1, unreadable: null }];
      expect(whileUnreadable).toEqual({ jobs: ['behind', 'first'], missing });
      expect(afterRestart).toEqual({ jobs: ['behind', 'first', 'later'], missing });
      expect(inTheEnd).toEqual({ jobs: ['behind', 'first', 'later', 'unreadable'], missing: [] });
      expect(events).toEqual(['first', 'behind', 'later', 'unreadable']);
    },
    300_000,
  );
});

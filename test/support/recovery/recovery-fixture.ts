import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RetrievableKind } from '../../../src/domain/kinds.js';
import { indexInThread } from '../../../src/index/fill/index-in-thread.js';
import { createLedgerView } from '../../../src/index/ledger-view.js';
import { createLedger } from '../../../src/ledger/write/ledger.js';
import type { RecoveryParts } from '../../../src/recovery/reconcile/recovery-parts.js';
import type { RetentionView } from '../../../src/recovery/retention/retention-view.js';
import { createSimulator, type Simulator, type SimulatorOptions } from '../../../src/simulator/simulator.js';
import { createSpeechClients } from '../../../src/speech/speech.js';
import type { NotificationConfig } from '../../../src/speech/wire.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { archiveOver } from '../store/archive-fixture.js';
import { temporaryFolder } from '../temporary-folder.js';

const PART_SIZE = 64 * 1024;

/** The address of callbacks in these tests; no server listens there. */
export const CALLBACK_URL = 'http://127.0.0.1:9/callbacks/default';

/** The simulated service and an empty file store, with recovery between them. */
export interface RecoveryFixture {
  readonly simulator: Simulator;
  readonly parts: RecoveryParts;
  readonly store: ObjectStore;
  readonly folder: string;
  /** Submits a finished job whose callback is lost; resolves to its id. */
  lose(entry?: Partial<NotificationConfig>, more?: LostJob): Promise<string>;
  /** The content of an object. */
  content(key: string): Promise<Buffer>;
  /** Whether an object is byte by byte the service's item. */
  isExact(key: string, jobId: string, item: RetrievableKind): Promise<boolean>;
  close(): Promise<void>;
}

interface LostJob {
  readonly region?: string;
  readonly outcome?: string;
  readonly mediaBytes?: number;
  readonly createdAt?: number;
  readonly notify?: readonly NotificationConfig[];
}

export interface RecoveryFixtureOptions {
  readonly simulator?: SimulatorOptions;
  readonly parts?: Partial<RecoveryParts>;
  /** Wraps the file store. */
  readonly wrapStore?: (store: ObjectStore) => ObjectStore;
}

/** Without retention periods. */
export const NOTHING_EXPIRES: RetentionView = { expiredBefore: async () => () => Number.NEGATIVE_INFINITY };

export async function recoveryFixture(options: RecoveryFixtureOptions = {}): Promise<RecoveryFixture> {
  const simulator = await createSimulator({
    regions: { eu1: 0, us1: 0 },
    timeScale: 0.001,
    ...options.simulator,
  });
  const folder = await temporaryFolder();
  const file = createFileStore({ directory: folder.path, partSize: PART_SIZE, fsync: false });
  const store = options.wrapStore?.(file) ?? file;
  const ledger = createLedger({ store, replica: 'fixture' });
  const view = createLedgerView({ store, startIndex: indexInThread });
  const speech = createSpeechClients({
    apiKey: simulator.apiKey,
    regions: Object.fromEntries(
      Object.entries(simulator.batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]),
    ),
    maxRequestsPerSecond: 10_000,
    retries: 1,
    retry: { baseDelayMs: 1 },
  });
  simulator.faults.add({ kind: 'drop' });
  const content = (key: string) => readFile(join(folder.path, key));
  return {
    simulator,
    store,
    folder: folder.path,
    parts: {
      store,
      archive: archiveOver(store, 32).archive,
      ledger,
      view,
      speech,
      sources: { default: { contents: ['transcript'], keyPrefix: '' } },
      publicUrl: null,
      window: 48 * 3_600_000,
      grace: 0,
      concurrency: 4,
      retention: 7 * 86_400_000,
      retained: NOTHING_EXPIRES,
      clock: Date.now,
      ...options.parts,
    },
    async lose(entry = {}, { notify, ...more } = {}) {
      const { id, notified } = simulator.submit({
        words: 20,
        mediaBytes: 1000,
        ...more,
        config: {
          type: 'transcription',
          transcription_config: { language: 'en' },
          notification_config: notify ?? [{ url: CALLBACK_URL, ...entry }],
        },
      });
      await notified;
      return id;
    },
    content,
    isExact: async (key, jobId, item) =>
      (await content(key)).equals(await simulator.expected(jobId)[item].bytes()),
    async close() {
      await view.stop();
      await ledger.close();
      await speech.close();
      await simulator.close();
      await folder.remove();
    },
  };
}

import { randomBytes } from 'node:crypto';
import { afterEach, expect } from '@jest/globals';
import { createService } from '../../../src/app/service/create-service.js';
import type { Listening } from '../../../src/app/service/service.js';
import type { ServiceOptions } from '../../../src/app/service/service-options.js';
import { parseConfig } from '../../../src/config/config.js';
import { RIGHTS } from '../../../src/domain/rights.js';
import { indexInThread } from '../../../src/index/fill/index-in-thread.js';
import { createLogger } from '../../../src/observe/logger.js';
import { openStore } from '../../../src/store/open-store.js';
import type { ProbeReport } from '../../../src/store/probe/probe-store.js';
import { OUTBOX_TIMES, type OutboxTimes } from '../../../src/subscribers/subscriber-run.js';
import { schemaFaults } from '../ledger/ledger-json-schema.js';
import { ledgerTextsOf } from '../ledger/ledger-of.js';
import { temporaryFolder } from '../temporary-folder.js';
import { until } from '../until.js';

/** A receiver in this process, over real sockets and a file store of its own. */
export interface RunningService extends Listening {
  readonly adminToken: string;
  /** Folder of the file store. */
  readonly folder: string;
  /** Log lines so far. */
  readonly log: readonly Record<string, unknown>[];
  stop(): Promise<void>;
}

export type Settings = Record<string, unknown>;

const TEST_DEFAULTS: Settings = {
  receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '2s' },
  admin: { host: '127.0.0.1', port: 0 },
  store: { partSize: '64KiB' },
  limits: { memoryBudget: '1MiB', quarantineBytes: '128KiB' },
  recovery: { interval: 'off' },
  log: { level: 'info' },
};

/** Milliseconds, longer than a test may take. */
const EVER = 600_000;
/** So that on a busy machine no answer times out its wait for the index, facts, the service, or the ledger line of a refusal. */
const PATIENT = { freshWithin: EVER, factsWithin: EVER, recordWithin: EVER, lineWithin: EVER };

/** What the probe finds of the stores of tests. Its own tests and receivers as processes use it, at some two hundred requests a start. */
const TRUSTED: ProbeReport = {
  writable: true,
  trustworthy: true,
  condition: null,
  unfit: null,
  findings: [],
  warnings: [],
  conditionalPut: 'holds',
  conditionalComplete: 'holds',
};

/**
 * Starts a receiver that is ready to receive; `settings` are laid over defaults fit for tests, `limits` over the
 * fixed ones. `stop` also removes its folder, and fails when a line of its ledger is not what the shipped JSON Schema describes.
 */
export async function startService(...how: Parameters<typeof startListening>): Promise<RunningService> {
  const service = await startListening(...how);
  // On a busy machine it listens before its store is proven.
  await until(async () => (await fetch(`${service.publicUrl}/readyz`)).ok);
  return service;
}

/** As `startService`, for services that single tests start: each is stopped after its test, the last one first. */
export function useOwnServices(): typeof startService {
  const own: RunningService[] = [];
  afterEach(async () => {
    for (const each of own.splice(0).reverse()) await each.stop();
  });
  return async (...how) => {
    const started = await startService(...how);
    own.push(started);
    return started;
  };
}

/** As `startService`, but resolves as soon as it listens: its store may fail. */
export async function startListening(
  settings: Settings = {},
  limits: ServiceOptions['limits'] = {},
  outboxTimes: OutboxTimes = OUTBOX_TIMES,
): Promise<RunningService> {
  const folder = await markedFolder();
  const defaults = merge(TEST_DEFAULTS, { store: { url: `file:${folder.path}` } });
  const config = parseConfig(merge(defaults, settings));
  const lines: Record<string, unknown>[] = [];
  const adminToken = randomBytes(18).toString('base64url');
  const service = await createService({
    config,
    limits: { ...PATIENT, ...limits },
    version: 'test',
    startIndex: indexInThread,
    outboxTimes,
    probe: async () => TRUSTED,
    adminTokens: { ...config.admin.tokens, tester: { token: adminToken, may: RIGHTS, sources: [] } },
    log: createLogger({
      level: config.log.level,
      destination: { write: (line: string) => lines.push(JSON.parse(line)) },
    }),
    onFatal: (error) => {
      throw error;
    },
  });
  const listening = await service.start();
  return {
    ...listening,
    adminToken,
    folder: folder.path,
    log: lines,
    async stop() {
      await service.stop();
      const lines = (await ledgerTextsOf(folder.path)).map(readableLine).filter((line) => line?.v === 1);
      await folder.remove();
      for (const line of lines) expect(schemaFaults(line)).toEqual([]);
    },
  };
}

/** A folder that is a store already: until a store is marked its index has no place, and is opened again afterwards. */
async function markedFolder(): ReturnType<typeof temporaryFolder> {
  const folder = await temporaryFolder();
  const store = await openStore({ url: `file:${folder.path}` });
  await store.begin();
  await store.close();
  return folder;
}

function merge(base: Settings, over: Settings): Settings {
  const merged: Settings = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const before = merged[name];
    merged[name] = isMap(before) && isMap(value) ? merge(before, value) : value;
  }
  return merged;
}

/** A line as an object; null for the broken lines that tests put into the ledger. */
function readableLine(text: string): Settings | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isMap(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

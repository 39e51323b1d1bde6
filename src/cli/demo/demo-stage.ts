import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { stringify } from 'yaml';
import { type OpenArchive, openArchiveParts } from '../../app/archive-parts.js';
import { indexOfService } from '../../app/open-ledger.js';
import { createService } from '../../app/service/create-service.js';
import type { Listening } from '../../app/service/service.js';
import { parseConfig } from '../../config/config.js';
import { createLogger } from '../../observe/logger.js';
import { createSimulator, type Simulator } from '../../simulator/simulator.js';
import type { ReceiverEvent } from '../../subscribers/receiver-event.js';
import { packageVersion } from '../package-version.js';

/** Receiver and service double on loopback, with data of their own. */
export interface DemoStage {
  readonly listening: Listening;
  readonly simulator: Simulator;
  readonly subscriber: DemoSubscriber;
  /** The receiver's store and recovery, as a command in another process would open them. */
  readonly parts: OpenArchive;
  readonly adminToken: string;
  /** Folder of a configuration that other commands can be pointed at. */
  readonly configFolder: string;
  readonly dataFolder: string;
  close(): Promise<void>;
}

const ADMIN_TOKEN = 'demo-token-not-secret';

/** The header line the jobs of the demo authenticate with. */
export const DEMO_CREDENTIAL = 'X-Callback-Token: demo-credential-not-secret';

/** Retries that take the service 65 seconds take 1.3 here. */
const TIME_SCALE = 0.02;

export async function openDemoStage(): Promise<DemoStage> {
  const folder = await mkdtemp(join(tmpdir(), 'transcript-receiver-demo-'));
  const simulator = await createSimulator({
    regions: { eu1: 0, us1: 0 },
    timeScale: TIME_SCALE,
  });
  const subscriber = await openDemoSubscriber();
  const settings = settingsOf(simulator, subscriber, join(folder, 'data'));
  const config = parseConfig(settings);
  const parts = await openArchiveParts(config, { indexFiles: indexOfService(config, null) });
  const service = await createService({
    config,
    log: createLogger({ level: 'silent' }),
    version: packageVersion(),
    adminTokens: config.admin.tokens,
    onFatal: (error) => {
      throw error;
    },
  });
  const listening = await service.start();
  await writeFile(join(folder, 'default.yaml'), stringify(settings));
  return {
    listening,
    simulator,
    subscriber,
    parts,
    adminToken: ADMIN_TOKEN,
    configFolder: folder,
    dataFolder: join(folder, 'data'),
    async close() {
      await simulator.close();
      await service.stop();
      await subscriber.close();
      await parts.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function settingsOf({ apiKey, batchUrls }: Simulator, subscriber: DemoSubscriber, dataFolder: string) {
  const regions = Object.entries(batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]);
  return {
    receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '1s' },
    admin: { host: '127.0.0.1', port: 0, tokens: { demo: ADMIN_TOKEN } },
    store: { url: `file:${dataFolder}`, partSize: '1MiB' },
    sources: { default: { credentials: { demo: { headers: [DEMO_CREDENTIAL] } } } },
    subscribers: { demo: subscriber.settings },
    limits: { memoryBudget: '16MiB' },
    speech: { apiKey, regions: Object.fromEntries(regions) },
    // Nothing of the demo is under way for long.
    recovery: { grace: '0s', interval: 'off' },
    replicaName: 'demo',
  };
}

/** The next system: it is sent events, and verifies them as docs/downstream.md shows. */
interface DemoSubscriber {
  readonly settings: { readonly url: string; readonly secrets: readonly string[] };
  /** The verified events of these jobs, once each job has one; those so far after ten seconds. */
  eventsOf(jobIds: readonly string[]): Promise<ReceiverEvent[]>;
  close(): Promise<void>;
}

const LONGEST_WAIT = 10_000;

async function openDemoSubscriber(): Promise<DemoSubscriber> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhook = new Webhook(secret);
  const events = new Map<string, ReceiverEvent>();
  const server = createServer(async (request, response) => {
    try {
      const headers = request.headers as Record<string, string>;
      const event = webhook.verify(await buffer(request), headers) as ReceiverEvent;
      events.set(event.id, event);
      response.writeHead(204).end();
    } catch {
      response.writeHead(401).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    settings: { url: `http://127.0.0.1:${port}/events`, secrets: [secret] },
    async eventsOf(jobIds) {
      const found = () => [...events.values()].filter(({ subject = '' }) => jobIds.includes(subject));
      const deadline = performance.now() + LONGEST_WAIT;
      while (new Set(found().map(({ subject }) => subject)).size < jobIds.length) {
        if (performance.now() > deadline) break;
        await sleep(50);
      }
      return found();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

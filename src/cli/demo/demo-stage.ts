import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { openArchiveParts } from '../../app/archive-parts.js';
import { indexOfService } from '../../app/open-ledger.js';
import { createService } from '../../app/service/create-service.js';
import { parseConfig } from '../../config/config.js';
import { createLogger } from '../../observe/logger.js';
import { createSimulator, type Simulator } from '../../simulator/simulator.js';
import { packageVersion } from '../package-version.js';

export type DemoStage = Awaited<ReturnType<typeof openDemoStage>>;

const ADMIN_TOKEN = 'demo-token-not-secret';

/** The header line the jobs of the demo authenticate with. */
export const DEMO_CREDENTIAL = 'X-Callback-Token: demo-credential-not-secret';

/** Retries that take the service 65 seconds take 1.3 here. */
const TIME_SCALE = 0.02;

/** Receiver and service double on loopback, with data of their own. */
export async function openDemoStage() {
  const folder = await mkdtemp(join(tmpdir(), 'transcript-receiver-demo-'));
  const simulator = await createSimulator({
    regions: { eu1: 0, us1: 0 },
    timeScale: TIME_SCALE,
  });
  const settings = settingsOf(simulator, join(folder, 'data'));
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
    /** The receiver's store and recovery, as a command in another process would open them. */
    parts,
    adminToken: ADMIN_TOKEN,
    /** Folder of a configuration that other commands can be pointed at. */
    configFolder: folder,
    dataFolder: join(folder, 'data'),
    async close(): Promise<void> {
      await simulator.close();
      await service.stop();
      await parts.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function settingsOf({ apiKey, batchUrls }: Simulator, dataFolder: string) {
  const regions = Object.entries(batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]);
  return {
    receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '1s' },
    admin: { host: '127.0.0.1', port: 0, tokens: { demo: ADMIN_TOKEN } },
    store: { url: `file:${dataFolder}`, partSize: '1MiB' },
    sources: { default: { credentials: { demo: { headers: [DEMO_CREDENTIAL] } } } },
    limits: { memoryBudget: '16MiB' },
    speech: { apiKey, regions: Object.fromEntries(regions) },
    // Nothing of the demo is under way for long.
    recovery: { grace: '0s', interval: 'off' },
    replicaName: 'demo',
  };
}

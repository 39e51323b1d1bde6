import { createService } from '../../../src/app/service/create-service.js';
import { classOfKey } from '../../../src/archive/layout.js';
import { parseConfig } from '../../../src/config/config.js';
import { type ItemKind, KINDS } from '../../../src/domain/kinds.js';
import { RIGHTS } from '../../../src/domain/rights.js';
import { createLogger } from '../../../src/observe/logger.js';
import { createSimulator } from '../../../src/simulator/simulator.js';
import { buildNotificationConfig } from '../../../src/speech/batch/notification-config.js';

/**
 * A program: sends jobs with a kind of content from the simulator to a receiver, and prints as JSON what became of them. It
 * runs on a copy of the sources to which a kind was added (test/integration/project/add-a-kind.test.ts).
 */

const [kind = '', folder = ''] = process.argv.slice(2);
const token = 'a-token-of-the-kind-probe';
const simulator = await createSimulator({ regions: { eu1: 0 }, timeScale: 0.001 });
const config = parseConfig({
  receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '2s' },
  admin: { host: '127.0.0.1', port: 0 },
  store: { url: `file:${folder}` },
  recovery: { interval: 'off' },
  sources: { hinted: { contents: [kind] }, plain: {} },
  speech: { apiKey: simulator.apiKey, regions: { eu1: { batchUrl: `${simulator.batchUrls.eu1}` } } },
});
const service = await createService({
  config,
  version: 'probe',
  adminTokens: { probe: { token, may: RIGHTS, sources: [] } },
  log: createLogger({ level: 'fatal', destination: { write: () => true } }),
  onFatal(error) {
    throw error;
  },
});
const { publicUrl, adminUrl } = await service.start();

async function admin(path: string, method = 'GET'): Promise<string> {
  const answer = await fetch(`${adminUrl}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.text();
}

async function submit(
  source: string,
  contents: readonly string[],
  address = (url: string) => url,
): Promise<string> {
  const url = `${publicUrl}/callbacks/${source}`;
  const { id, notified } = simulator.submit({
    words: 20,
    mediaBytes: 1000,
    config: {
      type: 'transcription',
      transcription_config: { language: 'en' },
      notification_config: buildNotificationConfig([{ url, headers: [], contents }]).map((entry) => ({
        ...entry,
        url: address(entry.url),
      })),
    },
  });
  await notified;
  return id;
}

/** The artefacts of a job, and whether the one of the kind has the service's bytes. */
async function artefactsOf(id: string) {
  const job = JSON.parse(await admin(`/admin/api/jobs/${id}`)) as {
    artefacts: readonly { key: string; kind: string; contentType: string; sha256: string }[];
  };
  const items = simulator.expected(id) as Readonly<Record<string, { sha256(): Promise<string> }>>;
  return Promise.all(
    job.artefacts.map(async ({ key, kind: stored, contentType, sha256 }) => ({
      file: key.slice(`jobs/${id}/`.length),
      kind: stored,
      contentType,
      exact: sha256 === (await items[stored]?.sha256()),
    })),
  );
}

const hinted = await submit('hinted', [kind]);
const recognised = await submit('plain', [kind], (url) => url.replace(/\?.*/, ''));
const form = await submit('plain', ['transcript.json-v2', kind]);
simulator.faults.add({ kind: 'drop' });
const lost = await submit('hinted', [kind]);
await admin(`/admin/api/jobs/${lost}/refetch`, 'POST');
const result = {
  hinted: await artefactsOf(hinted),
  recognised: await artefactsOf(recognised),
  form: await artefactsOf(form),
  refetched: await artefactsOf(lost),
  counted: (await admin('/metrics')).includes(`transcript_receiver_items_total{kind="${kind}"`),
  retentionClass: classOfKey(`jobs/${lost}/${KINDS[kind as ItemKind].file}`),
  described: (await admin('/admin/api/openapi.json')).includes(JSON.stringify(kind)),
};
await service.stop();
await simulator.close();
process.stdout.write(JSON.stringify(result));

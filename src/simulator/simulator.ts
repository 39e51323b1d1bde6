import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RETRIEVABLE_KINDS, type RetrievableKind } from '../domain/kinds.js';
import { scaledClock } from '../lib/time/clock.js';
import { createDeliveryLog } from './callbacks/delivery-log.js';
import { createNotifier, NOTIFIER_DEFAULTS } from './callbacks/notifier.js';
import { type Content, contentBytes, contentSha256 } from './content/content.js';
import { jobContent } from './content/job-contents.js';
import { createFaults } from './faults.js';
import { type RunningServer, startServer } from './http-server.js';
import { createJobRunner } from './jobs/job-runner.js';
import { createJobStore, type NewJob, recordRejection } from './jobs/job-store.js';
import { jobsApi } from './jobs/jobs-api.js';
import { keyService } from './jobs/key-service.js';
import { jobRecord, type SimulatedJob } from './jobs/simulated-job.js';
import { createKeyRing } from './key-ring.js';
import { realtimeKeyCheck } from './realtime/key-check.js';
import type { RealtimeSimulator } from './realtime/realtime-interface.js';
import { startRealtimeSimulator } from './realtime/realtime-simulator.js';
import type { ServedItem, Simulator, SimulatorOptions } from './simulator-interface.js';

export type * from '../domain/kinds.js';
export type { Clock } from '../lib/time/clock.js';
export type { DocumentedErrorType, ErrorType, LaterErrorType, Open } from '../speech/realtime/wire.js';
export type {
  CallbackStatus,
  ContentToken,
  JobConfig,
  JobError,
  JobRecord,
  JobStatus,
  KeyType,
  NotificationConfig,
} from '../speech/wire.js';
export type { BodyHabits } from './callbacks/callback-body.js';
export type { DeliveryAttempt, DeliveryLog } from './callbacks/delivery-log.js';
export type { NotificationOutcome, NotifierOptions } from './callbacks/notifier.js';
export type { Content } from './content/content.js';
export type { ApiFault, ApiOperation, Fault, FaultScope, Faults, NotificationFault } from './faults.js';
export type { NewJob } from './jobs/job-store.js';
export type { AudioBufferLimits } from './realtime/audio-buffer.js';
export type {
  KeyVerdict,
  ProcessingPace,
  RealtimeSimulator,
  RealtimeSimulatorOptions,
  SimulatedSession,
} from './realtime/realtime-interface.js';
export { startRealtimeSimulator } from './realtime/realtime-simulator.js';
export type { FaultAct, SessionFault, SessionScript } from './realtime/session-script.js';
export type {
  ServedItem,
  Simulator,
  SimulatorOptions,
  Submission,
  SubmittedJob,
} from './simulator-interface.js';

/** The batch regions (docs/service-interface.md#regions); others can be simulated by name. */
export const SIMULATED_REGIONS = ['eu1', 'eu2', 'us1', 'us2', 'au1'] as const;

/**
 * Starts a simulator of the speech service.
 *
 * @example
 * const simulator = await createSimulator({ timeScale: 0.001 });
 * const { notified } = simulator.submit({
 *   config: { type: 'transcription', notification_config: [{ url: callbackUrl, contents: ['transcript'] }] },
 * });
 * await notified;
 * await simulator.close();
 */
export async function createSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const clock = options.clock ?? scaledClock(options.timeScale ?? 1);
  const seed = options.seed ?? randomBytes(6).toString('hex');
  const apiKey = options.apiKey ?? `simulated-${seed}`;
  const host = options.host ?? '127.0.0.1';
  const ports = options.regions ?? Object.fromEntries(SIMULATED_REGIONS.map((region) => [region, 0]));
  const folder = await mkdtemp(join(tmpdir(), 'speech-simulator-'));
  const jobs = createJobStore({ seed, clock });
  const faults = createFaults(seed);
  const log = createDeliveryLog();
  const keys = createKeyRing(apiKey, clock);
  const notifier = createNotifier({ ...NOTIFIER_DEFAULTS, ...options.notifier }, { clock, faults, log });

  const runner = createJobRunner(jobs, notifier, clock);

  const known = (id: string): SimulatedJob => {
    const job = jobs.get(id);
    if (!job) throw new RangeError(`No job ${id}`);
    return job;
  };

  const servers: Pick<RunningServer, 'close'>[] = [];
  const serve = async (...args: Parameters<typeof startServer>): Promise<RunningServer> => {
    const server = await startServer(...args);
    servers.push(server);
    return server;
  };

  const close = async (): Promise<void> => {
    runner.stop();
    notifier.close();
    await Promise.all(servers.map((server) => server.close()));
    await runner.idle();
    await rm(folder, { recursive: true, force: true });
  };

  const batchUrls: Record<string, string> = {};
  let realtime: RealtimeSimulator | null = null;
  let keysUrl = '';
  const simulator: Omit<Simulator, 'keysUrl' | 'realtime' | 'realtimeUrl'> = {
    apiKey,
    batchUrls,
    seed,
    faults,
    deliveries: log,
    submit(submission) {
      const region = submission.region ?? Object.keys(ports)[0] ?? '';
      if (!Object.hasOwn(ports, region)) throw new RangeError(`Region ${region} is not simulated`);
      const { job, notified } = runner.start({ ...submission, region });
      return { id: job.id, region: job.region, notified };
    },
    jobs: () => jobs.all().map(jobRecord),
    job: (id) => {
      const job = jobs.get(id);
      return job ? jobRecord(job) : null;
    },
    expected: (id) => expectedItems(known(id)),
    setStatus(id, status) {
      const job = known(id);
      job.status = status;
      if (status === 'rejected' && job.errors.length === 0) recordRejection(job, clock.now());
    },
    issueKey: (type, ttl, clientRef) => keys.issue(type, ttl, clientRef ?? null),
    revokeTemporaryKeys: () => keys.revokeTemporaryKeys(),
    idle: () => runner.idle(),
    close,
  };

  try {
    keysUrl = (await serve(keyService(keys, faults), host, options.keysPort ?? 0)).url;
    for (const [region, port] of Object.entries(ports)) {
      const submit = (job: NewJob) => runner.start(job).job;
      const api = jobsApi({ region, jobs, keys, faults, folder, submit });
      batchUrls[region] = (await serve(api, host, port)).url;
    }
    if (options.realtimePort !== undefined || options.realtime !== undefined) {
      const { realtimePort: port = 0 } = options;
      const verifyKey = realtimeKeyCheck(keys);
      realtime = await startRealtimeSimulator({ ...options.realtime, host, port, verifyKey });
      servers.push(realtime);
    }
    return { ...simulator, keysUrl, realtime, realtimeUrl: realtime?.origin ?? null };
  } catch (error) {
    await close();
    throw error;
  }
}

function expectedItems(job: SimulatedJob): Record<RetrievableKind, ServedItem> {
  const items = RETRIEVABLE_KINDS.map((item) => [item, expectedItem(jobContent(job, item))] as const);
  return Object.fromEntries(items) as Record<RetrievableKind, ServedItem>;
}

function expectedItem(content: Content): ServedItem {
  return {
    size: content.size,
    bytes: () => contentBytes(content),
    sha256: () => contentSha256(content),
  };
}

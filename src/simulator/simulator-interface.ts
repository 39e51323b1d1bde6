import type { RetrievableKind } from '../domain/kinds.js';
import type { Clock } from '../lib/time/clock.js';
import type { JobRecord, JobStatus, KeyType } from '../speech/wire.js';
import type { DeliveryLog } from './callbacks/delivery-log.js';
import type { NotificationOutcome, NotifierOptions } from './callbacks/notifier.js';
import type { Faults } from './faults.js';
import type { NewJob } from './jobs/job-store.js';
import type { RealtimeSimulator, RealtimeSimulatorOptions } from './realtime/realtime-interface.js';

export interface SimulatorOptions {
  /** Address all servers bind to. Default `127.0.0.1`. */
  readonly host?: string;
  /** Regions to simulate and their ports; 0 picks a free one. Default: all five, free ports. */
  readonly regions?: Readonly<Record<string, number>>;
  readonly keysPort?: number;
  /** Port of the realtime and agent host. Without it and without `realtime` there is none. */
  readonly realtimePort?: number;
  /** Long-lived API key that is accepted. Default: a generated one. */
  readonly apiKey?: string;
  /** Determines job ids, contents and which cases a fault with a `rate` applies to. Default: random. */
  readonly seed?: string;
  /** Multiplies every wait (retries, delays), e.g. 0.001 in tests. Default 1. */
  readonly timeScale?: number;
  /** Clock and sleep; overrides `timeScale`. */
  readonly clock?: Clock;
  readonly notifier?: Partial<NotifierOptions>;
  /** Languages, limits, pace and faults of realtime and agent sessions; their port is a free one by default. */
  readonly realtime?: Omit<RealtimeSimulatorOptions, 'verifyKey' | 'host' | 'port'>;
}

/** A job to simulate; everything but the configuration has a default. */
export type Submission = Omit<NewJob, 'region'> & {
  /** Default: the first simulated region. */
  readonly region?: string;
};

export interface SubmittedJob {
  readonly id: string;
  readonly region: string;
  /** Settles when every notification entry was delivered or abandoned; one outcome per entry. */
  readonly notified: Promise<NotificationOutcome[]>;
}

/** The expected bytes of a job's item. */
export interface ServedItem {
  readonly size: number;
  bytes(): Promise<Buffer>;
  /** Lower-case hex, computed as a stream. */
  sha256(): Promise<string>;
}

export interface Simulator {
  readonly apiKey: string;
  readonly keysUrl: string;
  /** Base address of each region's jobs API, without `/v2`. */
  readonly batchUrls: Readonly<Record<string, string>>;
  /** Realtime and agent host, `ws://host:port`, without `/v2`; null without `realtimePort` and `realtime`. */
  readonly realtimeUrl: string | null;
  /** Sessions and upgrade requests of that host; null without it. */
  readonly realtime: RealtimeSimulator | null;
  readonly seed: string;
  readonly faults: Faults;
  /** Every attempt to send a notification, in order of starting. */
  readonly deliveries: DeliveryLog;
  /** Makes a job without the HTTP interface. Throws `RangeError` for a configuration that the service would reject. */
  submit(submission: Submission): SubmittedJob;
  /** Records of all jobs of all regions, oldest first. */
  jobs(): readonly JobRecord[];
  job(id: string): JobRecord | null;
  /** Exact bytes of each item of a job, generated on demand. */
  expected(id: string): Readonly<Record<RetrievableKind, ServedItem>>;
  /** Forces a status, e.g. `expired`. */
  setStatus(id: string, status: JobStatus): void;
  /** Issues a temporary key as the key service would. */
  issueKey(type: KeyType, ttl: number, clientRef?: string): Promise<string>;
  /** Makes every temporary key issued so far answer 401. */
  revokeTemporaryKeys(): void;
  /** Resolves when no job is being processed and no notification is in flight. */
  idle(): Promise<void>;
  /** Ends servers, notifications and temporary files. Idempotent. */
  close(): Promise<void>;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Metrics } from '../../observe/metrics/metrics.js';
import type { Admin } from '../../operations/admin/admin.js';
import type { BackgroundWork } from './background-work.js';
import type { OpenReceiving } from './open-receiving.js';
import type { OpenStorage } from './open-storage.js';
import type { Ports } from './ports.js';
import type { ReplicaState } from './replica-state.js';
import type { ServiceOptions } from './service-options.js';

/** Addresses of a running service, and whether it accepts callbacks yet. */
export interface Listening {
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** Location of the store, without secrets. */
  readonly store: string;
  /** Why callbacks are still answered 503; null when the replica is ready. */
  readonly notReady: string | null;
}

/** Milliseconds for aborted deliveries to clean up, and for the ledger to flush. */
const ABORT_WAIT = 5_000;

/** Milliseconds that the start waits for the proof of the store, which usually takes a fraction of a second. */
const FIRST_VERDICT_WAIT = 3_000;

/** Milliseconds that readiness waits for the index to open, which loads the rest of the program; bounded, because its disk may hang. */
const INDEX_WAIT = 5_000;

interface ServiceParts {
  readonly options: ServiceOptions;
  readonly metrics: Metrics;
  readonly storage: OpenStorage;
  readonly replica: ReplicaState;
  readonly receiving: OpenReceiving;
  readonly admin: Admin;
  readonly background: BackgroundWork;
  readonly ports: Ports;
}

/** Starts the parts of a service, and stops them in order. */
export class Service {
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /**
   * Opens both ports, then proves the store in the background: until it is proven, `/readyz` and callbacks are answered 503. Resolves when
   * the replica is ready, or after `FIRST_VERDICT_WAIT` without a result.
   *
   * Rejects when a port cannot be opened. Rejects with `WeakStoreError` or `OtherStoreError` when the proof finds within that time that the
   * store overwrites objects or is not the pinned one; later, `onFatal` is called with that error.
   */
  async start(): Promise<Listening> {
    const { options, storage, replica, admin, background, ports } = this.#parts;
    const addresses = await ports.open();
    replica.port = Number(new URL(addresses.publicUrl).port || 80);
    let started = false;
    const verdict = this.#becomeReady().catch((error) => {
      if (!started) throw error;
      options.onFatal(error);
    });
    await Promise.race([verdict, sleep(FIRST_VERDICT_WAIT, null, { ref: false })]);
    started = true;
    if (!replica.isDraining()) {
      // Only after the store has its marker: the index is named by its id, and would be opened twice.
      admin.start();
      background.startSweeping();
    }
    return { ...addresses, store: storage.parts.store.location, notReady: replica.readiness().reason };
  }

  /** Rejects with `WeakStoreError` or `OtherStoreError`. Resolves without being ready only when the service is stopped first. */
  async #becomeReady(): Promise<void> {
    const { options, storage, replica, background } = this.#parts;
    if (!(await storage.storeHealth.prove()) || replica.isDraining()) return;
    const opened = storage.parts.view.opened().catch(() => undefined);
    await Promise.race([opened, sleep(INDEX_WAIT, null, { ref: false })]);
    if (replica.isDraining()) return;
    replica.isLoaded = true;
    if (replica.readiness().ready) {
      options.log.info({ event: 'ready' }, 'the store is proven: callbacks are accepted');
    }
    storage.erasures.load();
    background.startWriting();
  }

  /**
   * Drains: readiness ends at once, requests are served during the drain delay, then no new ones are accepted. Deliveries and changes in
   * flight may finish until the deadline; then connections are closed, uploads aborted and the ledger flushed.
   */
  async stop(): Promise<void> {
    const { options, metrics, storage, replica, receiving, admin, background, ports } = this.#parts;
    const { receiver } = options.config;
    const { admission, refusals, bounded } = receiving;
    replica.drain();
    storage.storeHealth.stopProving();
    // A start in flight opens its ports first; otherwise they would open after the drain.
    const listening = await ports.whenSettled();
    const writingStopped = Promise.all([background.stopWriting(), admin.stopReplays()]);
    if (listening) await sleep(receiver.drainDelay);
    admission.close();
    admin.changes.close();
    const deadline = sleep(receiver.drainDeadline, null, { ref: false }).then(() =>
      admission.failIncompleteBodies(),
    );
    await ports.drain('public', deadline);
    // Reads are aborted as soon as no change is in flight.
    await ports.drain('admin', Promise.race([admin.changes.whenEmpty(), deadline]));
    const others = [writingStopped, admin.stop(), storage.storeHealth.stop(), refusals.counter.stop()];
    const isDone = await withinAbortWait([admission.whenEmpty(), admin.changes.whenEmpty(), ...others]);
    background.stopSweeping();
    for (const each of [bounded, metrics]) each.close();
    // Last: an S3 store closes at once and fails requests in flight.
    const isClosed = await withinAbortWait([storage.parts.close()]);
    if (isDone && isClosed) return;
    const text = 'the store did not answer: work that waited for it was abandoned';
    options.log.warn({ event: 'store-hangs' }, text);
  }
}

/** Resolves to false when the work has not ended in time: a store that hangs must not delay the end of the process. */
function withinAbortWait(work: readonly Promise<unknown>[]): Promise<boolean> {
  const ended = Promise.all(work).then(() => true);
  return Promise.race([ended, sleep(ABORT_WAIT, false, { ref: false })]);
}

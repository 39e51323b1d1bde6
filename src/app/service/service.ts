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

/** Milliseconds that aborted deliveries have to clean up, and the ledger to flush. */
const ABORT_WAIT = 5_000;

/** Milliseconds that the start waits for the proof of the store, which usually takes a fraction of a second. */
const FIRST_VERDICT_WAIT = 3_000;

/** Milliseconds that readiness waits for the index to be opened, so that all of the program is loaded: its disk may hang. */
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
   * Opens both ports, then proves the store in the background: until it is proven `/readyz` and callbacks are answered
   * 503. Resolves when the replica is ready, or after `FIRST_VERDICT_WAIT` without a result.
   *
   * Rejects when a port cannot be opened, and with `WeakStoreError` or `OtherStoreError` when the store turns out within that
   * time to overwrite objects, or not to be the pinned one; when it turns out later, `onFatal` is called.
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
      // Not before the store is marked: its index would be opened twice.
      admin.start();
      background.startSweeping();
    }
    return { ...addresses, store: storage.parts.store.location, notReady: replica.readiness().reason };
  }

  /** Rejects with `WeakStoreError` or `OtherStoreError`; ends without being ready only when the service is stopped before. */
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
   * Drains: the replica is not ready at once, serves requests during the drain delay, then accepts no new ones. Deliveries
   * and changes in flight may finish until the deadline; then connections are cut, uploads aborted, the ledger flushed.
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
    const deadline = sleep(receiver.drainDeadline, null, { ref: false }).then(() => admission.cutShort());
    await ports.drain('public', deadline);
    // Reads are cut off as soon as no change is in flight.
    await ports.drain('admin', Promise.race([admin.changes.whenEmpty(), deadline]));
    const others = [writingStopped, admin.stop(), storage.storeHealth.stop(), refusals.counter.stop()];
    const isDone = await withinAbortWait([admission.whenEmpty(), admin.changes.whenEmpty(), ...others]);
    background.stopSweeping();
    for (const each of [bounded, metrics]) each.close();
    // An S3 store closes at once, whatever waits for it.
    const isClosed = await withinAbortWait([storage.parts.close()]);
    if (isDone && isClosed) return;
    const text = 'the store did not answer: work that waited for it was abandoned';
    options.log.warn({ event: 'store-hangs' }, text);
  }
}

/** False when the work has not ended in time: a store that hangs must not delay the end of the process. */
function withinAbortWait(work: readonly Promise<unknown>[]): Promise<boolean> {
  const ended = Promise.all(work).then(() => true);
  return Promise.race([ended, sleep(ABORT_WAIT, false, { ref: false })]);
}

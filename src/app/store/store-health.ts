import { setTimeout as sleep } from 'node:timers/promises';
import type { Erasures } from '../../archive/erasure/erasures.js';
import { type StorePlace, storePlaces } from '../../archive/store-places.js';
import { clockProblem, unavailableProblem } from '../../archive/store-problem.js';
import type { Config } from '../../config/config.js';
import { clockFault } from '../../ledger/hours.js';
import { LEDGER_FOLDER } from '../../ledger/ledger-keys.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import type { Logger } from '../../observe/logger.js';
import { Canary, type CanaryStatus } from '../../operations/health/canary.js';
import { issueOf } from '../../operations/issues/issue-kinds.js';
import type { ReportedIssue } from '../../operations/issues/issues.js';
import type { StoreGate } from '../../receive/admission.js';
import type { Readiness } from '../../receive/health-routes.js';
import type { ObjectStore } from '../../store/object-store.js';
import { assertFinished } from '../../store/probe/copy-mark.js';
import type { OnStoreCall } from '../../store/probe/measure-store.js';
import { createPlaceProofs, type PlaceFailure } from '../../store/probe/place-proofs.js';
import type { StoreProofTarget } from '../../store/probe/store-proof.js';
import { isRefusal } from '../../store/store-condition.js';
import { remedyOf, type StoreCondition } from '../../store/store-remedies.js';
import { FirstProof, type StoreFault } from './first-proof.js';
import type { StoreFailureLog } from './store-failure-log.js';
import { createStoreIdentity, type StoreIdentity } from './store-identity.js';

/** Longest pause between attempts to prove the store, in milliseconds. */
const MAX_PROBE_PAUSE = 5_000;

/** Milliseconds after which a prefix of a bucket without writes is proven again; for a folder the check costs nothing. */
const PLACE_PROVEN_FOR = 3_600_000;

interface StoreHealthParts {
  readonly store: ObjectStore;
  readonly erasures: Pick<Erasures, 'has'>;
  readonly ledger: Pick<Ledger, 'fault'>;
  readonly log: Logger;
  readonly failures: StoreFailureLog;
  /** Cache directory with the ids of known stores; null without one. */
  readonly cacheFolder: string | null;
  /** Default: that of `storeProofTarget`. */
  readonly probe?: StoreProofTarget['probe'] | undefined;
}

/**
 * Determines whether the next callback can be stored. The whole store is proven at the start, later a canary object and each prefix that
 * the receiver writes to. The clock and the ledger writer are checked as well.
 */
export class StoreHealth {
  readonly gate: StoreGate;
  readonly #config: Config;
  readonly #store: ObjectStore;
  readonly #ledger: Pick<Ledger, 'fault'>;
  /** Milliseconds between attempts to prove the store, and smallest pause between proofs of places. */
  readonly #pause: number;
  readonly #identity: StoreIdentity;
  readonly #first: FirstProof;
  readonly #places: ReturnType<typeof createPlaces>;
  readonly #canary: Canary;
  /** Whether the last check found a store other than the pinned one. */
  #isOtherStore = false;
  /** When an object of the archive or the ledger was last written, by `performance.now`. */
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(config: Config, parts: StoreHealthParts) {
    const { store, ledger, log, failures, cacheFolder, probe } = parts;
    this.#config = config;
    this.#store = store;
    this.#ledger = ledger;
    this.#pause = Math.min(config.store.canaryInterval, MAX_PROBE_PAUSE);
    this.#identity = createStoreIdentity(store, config.store.id !== null, cacheFolder, log);
    this.#first = new FirstProof(config, { store, identity: this.#identity, log, failures, probe });
    // Renews the canary at once, because other replicas read the report in it.
    this.#places = createPlaces(config, parts, this.#pause, () => this.#canary.renew());
    this.#canary = this.#createCanary(log);
    const isProven = () => this.#first.fault === null && !this.#isOtherStore;
    this.gate = createStoreGate(this.#first.tried, isProven, this.#canary, store);
  }

  /** Key of this replica's canary. */
  get canaryKey(): string {
    return this.#canary.key;
  }

  status(): CanaryStatus {
    return this.#canary.status();
  }

  /** Keys of canaries that listings must show. Not for a file store, where a listing may run while a file is being replaced. */
  written(): readonly string[] {
    const isSeen = this.#store.location.startsWith('s3:') && this.status().lastSuccessAt !== null;
    return isSeen ? [this.canaryKey] : [];
  }

  readonly called: OnStoreCall = (operation, result, _durationMs, _condition, key) => {
    if (operation === 'prove') return;
    if (result === 'error' || result === 'timeout') {
      if (this.#places.called(key, 'failed')) void this.#canary.check().then(() => this.#checkPlaces());
      return;
    }
    if (result !== 'ok' || (operation !== 'create' && operation !== 'complete')) return;
    if (!key.startsWith('.')) this.#wroteAt = performance.now();
    this.#places.called(key, 'written');
  };

  readiness(): Readiness {
    const found = this.#fault();
    const { reason = null, condition = null } = found ?? {};
    return {
      ready: found === null,
      reason,
      cause: condition !== null && isRefusal(condition) ? condition : null,
    };
  }

  /**
   * Resolves to true when the store is proven and the canary was checked, to false after `stopProving`. Rejects with `WeakStoreError` or
   * `OtherStoreError`, once the canary is removed.
   */
  async prove(): Promise<boolean> {
    this.#canary.start();
    const first = this.#canary.check();
    const isProven = await this.#first.prove(this.#pause).catch(async (error: unknown) => {
      // This replica will not run, and other replicas would report it as silent.
      await this.stop();
      throw error;
    });
    if (!isProven) return false;
    // The first check began before the proof ended, so its report says that this replica is not ready.
    await first;
    await this.#canary.check();
    await this.#checkPlaces();
    return true;
  }

  stopProving(): void {
    this.#first.stop();
  }

  /** Ends the canary and removes it. */
  stop(): Promise<void> {
    return this.#canary.stop();
  }

  /** Issues of this replica's connection to the store. */
  ownIssues(): ReportedIssue[] {
    if (this.#first.fault !== null) return [];
    const { replicaName: replica } = this.#config;
    const offsetMs = this.#store.clockOffset();
    const denied = this.status().reason === null ? this.#places.failures() : [];
    return [
      ...this.#identity.issues(),
      ...(clockFault(offsetMs) === null ? [] : [issueOf('clock', { replica, offsetMs })]),
      ...denied.map(deniedIssue),
    ];
  }

  /** A `not-ready` issue for a fault without an issue of its own. */
  #unnamedFault(): ReportedIssue[] {
    const found = this.#fault();
    if (found === null || this.ownIssues().some(({ level }) => level === 'failing')) return [];
    return [issueOf('not-ready', { reason: found.reason, replica: this.#config.replicaName })];
  }

  #fault(): StoreFault | null {
    if (this.#first.fault !== null) return this.#first.fault;
    const clock = clockFault(this.#store.clockOffset());
    if (clock !== null) return { reason: clock, condition: 'clock' };
    const { writable, reason, condition } = this.status();
    if (!writable) return { reason: reason ?? 'the store is not writable', condition };
    return this.#ledgerFault() ?? this.#stoppingPlace();
  }

  /**
   * The last failure of the ledger writer. Without callbacks no further line shows that it is over, so a later proof of the ledger's prefix
   * ends it; for a failure without a known condition, such as answers 500, also a later canary.
   */
  #ledgerFault(): StoreFault | null {
    const found = this.#ledger.fault();
    // The clock is checked directly.
    if (found === null || found.condition === 'clock') return null;
    const isOver = found.condition !== null || this.#canary.succeededSince(found.at);
    return isOver && this.#places.provenSince(LEDGER_FOLDER, found.at) ? null : found;
  }

  /** The failed place without which no source can be stored; null while one can. */
  #stoppingPlace(): StoreFault | null {
    const found = this.#places.failures();
    const stopped = new Set(found.flatMap(({ place }) => place.sources));
    const [first] = found.filter(({ place }) => place.sources.length > 0);
    if (first === undefined || stopped.size < Object.keys(this.#config.sources).length) return null;
    return { reason: `${first.place.prefix}: ${first.reason}`, condition: first.condition };
  }

  /** Skipped while nothing can be written, because each place would fail as well. */
  async #checkPlaces(): Promise<void> {
    if (this.#first.fault === null && this.status().reason === null) await this.#places.check();
  }

  #createCanary(log: Logger): Canary {
    const { replicaName: replica, store: settings } = this.#config;
    return new Canary({
      // A canary in an unfinished copy would prevent `copy-store` from finishing it.
      admit: async () => void (await assertFinished(this.#store)),
      identify: () => this.#identify(),
      store: this.#store,
      replica,
      interval: settings.canaryInterval,
      lastWrite: () => this.#wroteAt,
      needsConditions: settings.s3.conditionalWrites === 'native',
      report: () => [...this.ownIssues(), ...this.#unnamedFault()],
      onChecked: () => void this.#checkPlaces(),
      onChange: (failure) => {
        if (failure === null) return log.info({ event: 'store-writable' }, 'the store is writable again');
        const remedy = failure.condition === null ? undefined : remedyOf(failure.condition);
        log.error({ event: 'store-not-writable', remedy }, `the store cannot be written: ${failure.reason}`);
      },
    });
  }

  async #identify(): Promise<void> {
    try {
      await this.#identity.check();
      this.#isOtherStore = false;
    } catch (error) {
      this.#isOtherStore = this.#config.store.id !== null;
      throw error;
    }
  }
}

function deniedIssue({ place, since, reason, condition }: PlaceFailure<StorePlace>): ReportedIssue {
  const { prefix, sources, work } = place;
  const facts = { prefix, reason, condition, since: new Date(since).toISOString() };
  return work === null
    ? issueOf('store-denied', { ...facts, sources })
    : issueOf('work-denied', { ...facts, work });
}

/** Proofs of the places that the receiver writes to; logs changes. */
function createPlaces(
  config: Config,
  { store, erasures, log }: Pick<StoreHealthParts, 'store' | 'erasures' | 'log'>,
  interval: number,
  changed: () => void,
) {
  return createPlaceProofs<StorePlace>({
    places: storePlaces(config, store, erasures),
    provenFor: store.location.startsWith('file:') ? 0 : PLACE_PROVEN_FOR,
    interval,
    onChange(found) {
      changed();
      if (found.length === 0) log.info({ event: 'store-allowed' }, 'every prefix can be used again');
      for (const failure of found) {
        const { place, reason, condition } = failure;
        const remedy = condition === null ? undefined : remedyOf(condition);
        const { prefix, sources, work } = place;
        const fields = { event: deniedIssue(failure).code, prefix, sources, work, condition, remedy };
        log.error(fields, `the store cannot be used below ${prefix}: ${reason}`);
      }
    },
  });
}

/** Milliseconds that callbacks wait for the first attempt to prove the store, from the start of the process. */
const FIRST_PROOF = 10_000;

/**
 * Conditions that close the gate. Callbacks to an unreachable store would wait for its time-outs, and a store that overwrites objects
 * would lose one. Under other conditions the store answers at once, and the first stored callback shows that they have ended.
 */
const GATE_CLOSING: ReadonlySet<StoreCondition | null> = new Set<StoreCondition>([
  'unreachable',
  'overwrites',
]);

/**
 * Decides whether callbacks are answered 503 without a call of the store.
 *
 * @param tried settles when the first attempt to prove the store has ended
 * @param isProven whether the store is proven, and the one that is pinned
 */
export function createStoreGate(
  tried: Promise<void>,
  isProven: () => boolean,
  canary: Pick<Canary, 'complaint' | 'isWritable'>,
  store: Pick<ObjectStore, 'clockOffset'>,
): StoreGate {
  let known: Promise<unknown> | null = Promise.race([tried, sleep(FIRST_PROOF, null, { ref: false })]).then(
    () => {
      known = null;
    },
  );
  return {
    get known() {
      return known;
    },
    refusal() {
      if (!isProven()) return unavailableProblem();
      if (clockFault(store.clockOffset()) !== null) return clockProblem();
      const isClosing = GATE_CLOSING.has(canary.complaint?.condition ?? null);
      return isClosing && !canary.isWritable() ? unavailableProblem() : null;
    },
  };
}

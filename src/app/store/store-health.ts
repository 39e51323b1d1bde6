import { setTimeout as sleep } from 'node:timers/promises';
import { callbackPlaces } from '../../archive/callback-places.js';
import type { Erasures } from '../../archive/erasure/erasures.js';
import { clockProblem, unavailableProblem } from '../../archive/store-problem.js';
import type { Config } from '../../config/config.js';
import { clockFault } from '../../ledger/hours.js';
import { LEDGER_FOLDER } from '../../ledger/ledger-keys.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import type { Logger } from '../../observe/logger.js';
import { type Canary, createCanary } from '../../operations/health/canary.js';
import { issueOf } from '../../operations/issues/issue-kinds.js';
import type { ReportedIssue } from '../../operations/issues/issues.js';
import type { StoreGate } from '../../receive/admission.js';
import type { Readiness } from '../../receive/health-routes.js';
import type { ObjectStore } from '../../store/object-store.js';
import { assertFinished, serveCopy } from '../../store/probe/copy-mark.js';
import type { OnStoreCall } from '../../store/probe/measure-store.js';
import { createPlaceProofs } from '../../store/probe/place-proofs.js';
import { proveRepeatedly, type StoreProofTarget } from '../../store/probe/store-proof.js';
import { isRefusal } from '../../store/store-condition.js';
import { remedyOf, type StoreCondition } from '../../store/store-remedies.js';
import type { StoreFailureLog } from './store-failure-log.js';
import { createStoreIdentity } from './store-identity.js';
import { storeProofTarget } from './store-proof-target.js';

/** Longest pause between attempts to prove the store, in milliseconds. */
const MAX_PROBE_PAUSE = 5_000;

/** Milliseconds after which a prefix of a bucket is proven again that nothing was written to; the rights of a folder cost nothing. */
const PLACE_PROVEN_FOR = 3_600_000;

interface StoreHealthParts {
  readonly store: ObjectStore;
  readonly erasures: Pick<Erasures, 'has'>;
  readonly ledger: Pick<Ledger, 'fault'>;
  readonly log: Logger;
  readonly failures: StoreFailureLog;
  /** Folder in which this machine remembers its stores; null: it does not. */
  readonly memory: string | null;
  /** Default: that of `storeProofTarget`. */
  readonly probe?: StoreProofTarget['probe'] | undefined;
}

interface Fault {
  readonly reason: string;
  readonly condition: StoreCondition | null;
}

/**
 * Whether the next callback can be stored. Everything that it needs is proven: at the start the store as a whole, then by a canary and
 * by each place that callbacks use; besides the clock and the ledger's writer are asked.
 */
export function createStoreHealth(config: Config, parts: StoreHealthParts) {
  const { store, erasures, ledger, log, failures, memory } = parts;
  const { canaryInterval: interval, id: pinned } = config.store;
  const pause = Math.min(interval, MAX_PROBE_PAUSE);
  const identity = createStoreIdentity(store, pinned !== null, memory, log);
  const stopping = new AbortController();
  /** Settles when the first attempt to prove the store has ended. */
  const tried = Promise.withResolvers<void>();
  /** Null once the store is proven. */
  let unproven: Fault | null = { reason: 'the store has not answered yet', condition: null };
  /** Whether the last look found another store than the one that is pinned. */
  let isOtherStore = false;
  /** When an object of the archive or the ledger was last written, by `performance.now`. */
  let wroteAt = Number.NEGATIVE_INFINITY;

  const places = createPlaceProofs({
    places: callbackPlaces(config.sources, store, erasures),
    provenFor: store.location.startsWith('file:') ? 0 : PLACE_PROVEN_FOR,
    interval: pause,
    onChange(found) {
      if (found.length === 0)
        log.info({ event: 'store-allowed' }, 'everything that callbacks need can be stored again');
      for (const { place, reason, condition } of found) {
        const remedy = condition === null ? undefined : remedyOf(condition);
        const fields = {
          event: 'store-denied',
          prefix: place.prefix,
          sources: place.sources,
          condition,
          remedy,
        };
        log.error(fields, `nothing can be stored below ${place.prefix}: ${reason}`);
      }
    },
  });
  const canary = createCanary({
    // A canary in an unfinished copy would keep `copy-store` from finishing it.
    admit: async () => void (await assertFinished(store)),
    async identify() {
      try {
        await identity.check();
        isOtherStore = false;
      } catch (error) {
        isOtherStore = pinned !== null;
        throw error;
      }
    },
    store,
    replica: config.replicaName,
    interval,
    lastWrite: () => wroteAt,
    needsConditions: config.store.s3.conditionalWrites === 'native',
    report: () => [...ownIssues(), ...unnamedFault()],
    onChecked: () => void checkPlaces(),
    onChange: (failure) => {
      if (failure === null) return log.info({ event: 'store-writable' }, 'the store is writable again');
      const remedy = failure.condition === null ? undefined : remedyOf(failure.condition);
      log.error({ event: 'store-not-writable', remedy }, `the store cannot be written: ${failure.reason}`);
    },
  });

  /** Resolves to false when it was stopped before. */
  async function proveStore(): Promise<boolean> {
    const target = storeProofTarget(config, store);
    const options = {
      ...target,
      probe: parts.probe ?? target.probe,
      async identify() {
        await identity.begin();
        await serveCopy(store);
      },
      retryAfter: pause,
      onWarning: (message: string) => log.warn({ event: 'store-probe' }, message),
      onFailure(reason: string, condition: StoreCondition | null) {
        unproven = { reason, condition };
        tried.resolve();
        const inWords = `the store cannot be proven writable: ${reason}`;
        failures.failed('store-probe', { reason: inWords, condition });
      },
    };
    try {
      const isProven = await proveRepeatedly(options, stopping.signal);
      if (isProven) unproven = null;
      return isProven;
    } finally {
      tried.resolve();
    }
  }

  /** While nothing at all can be written, each place would fail as well. */
  async function checkPlaces(): Promise<void> {
    if (unproven === null && canary.status().reason === null) await places.check();
  }

  function fault(): Fault | null {
    if (unproven !== null) return unproven;
    const clock = clockFault(store.clockOffset());
    if (clock !== null) return { reason: clock, condition: 'clock' };
    const { writable, reason, condition } = canary.status();
    if (!writable) return { reason: reason ?? 'the store is not writable', condition };
    return ledgerFault() ?? stoppingPlace();
  }

  /** Without callbacks no line shows that it has ended: a proof of its place does, unless the store said nothing. */
  function ledgerFault(): Fault | null {
    const found = ledger.fault();
    // The clock is asked itself.
    if (found?.condition === 'clock') return null;
    const isOver = found !== null && found.condition !== null && places.provenSince(LEDGER_FOLDER, found.at);
    return isOver ? null : found;
  }

  /** The place without which no source can be stored; null when one can. */
  function stoppingPlace(): Fault | null {
    const found = places.failures();
    const stopped = new Set(found.flatMap(({ place }) => place.sources));
    const [first] = found.filter(({ place }) => place.sources.length > 0);
    if (first === undefined || stopped.size < Object.keys(config.sources).length) return null;
    return { reason: `${first.place.prefix}: ${first.reason}`, condition: first.condition };
  }

  /** What is wrong with this replica's way to the store. */
  function ownIssues(): ReportedIssue[] {
    if (unproven !== null) return [];
    const offsetMs = store.clockOffset();
    return [
      ...identity.issues(),
      ...(clockFault(offsetMs) === null ? [] : [issueOf('clock', { replica: config.replicaName, offsetMs })]),
      ...(canary.status().reason === null ? places.failures() : []).map(
        ({ place, reason, condition, since }) => {
          const { prefix, sources } = place;
          return issueOf('store-denied', {
            prefix,
            sources,
            reason,
            condition,
            since: new Date(since).toISOString(),
          });
        },
      ),
    ];
  }

  /** What keeps this replica from being ready and is no issue of its own. */
  function unnamedFault(): ReportedIssue[] {
    const found = fault();
    if (found === null || ownIssues().some(({ level }) => level === 'failing')) return [];
    return [issueOf('not-ready', { reason: found.reason, replica: config.replicaName })];
  }

  return {
    status: canary.status,
    /** Key of this replica's canary. */
    canaryKey: canary.key,
    /** What this replica wrote to prove the store. A folder of files may be read while a file takes the place of another. */
    written: () =>
      store.location.startsWith('s3:') && canary.status().lastSuccessAt !== null ? [canary.key] : [],
    ownIssues,
    /** To be called after each call of the store. */
    called: ((operation, result, _durationMs, _condition, key) => {
      if (operation === 'prove') return;
      if (result === 'error' || result === 'timeout') {
        if (places.called(key, 'failed')) void canary.check().then(checkPlaces);
        return;
      }
      if (result !== 'ok' || (operation !== 'create' && operation !== 'complete')) return;
      if (!key.startsWith('.')) wroteAt = performance.now();
      places.called(key, 'written');
    }) satisfies OnStoreCall,
    readiness(): Readiness {
      const found = fault();
      const { reason = null, condition = null } = found ?? {};
      return {
        ready: found === null,
        reason,
        cause: condition !== null && isRefusal(condition) ? condition : null,
      };
    },
    gate: createStoreGate(tried.promise, () => unproven === null && !isOtherStore, canary, store),
    /** Resolves to true when the store is proven and the canary was checked, to false when `stopProving` came first. */
    async prove(): Promise<boolean> {
      canary.start();
      const first = canary.check();
      if (!(await proveStore())) return false;
      // It began before the proof ended, and reports a replica that is not ready.
      await first;
      await canary.check();
      await checkPlaces();
      return true;
    },
    stopProving: () => stopping.abort(),
    /** Ends the canary and removes it. */
    stop: () => canary.stop(),
  };
}

/** Milliseconds that callbacks wait for the first attempt to prove the store, from the start of the process. */
const FIRST_PROOF = 10_000;

/**
 * Nothing is tried while these last. A store that is away would keep each callback waiting until its time-outs, and one that replaces
 * objects would lose one. What else is wrong is answered at once, and the first callback that is stored shows that it has ended.
 */
const CLOSING: ReadonlySet<StoreCondition | null> = new Set<StoreCondition>(['unreachable', 'overwrites']);

/**
 * Decides which callbacks are answered 503 without a call of the store.
 *
 * @param tried settles when the first attempt to prove the store has ended
 * @param isProven whether the store is proven, and the one that is pinned
 */
export function createStoreGate(
  tried: Promise<void>,
  isProven: () => boolean,
  canary: Pick<Canary, 'status'>,
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
      const { writable, condition } = canary.status();
      return !writable && CLOSING.has(condition) ? unavailableProblem() : null;
    },
  };
}

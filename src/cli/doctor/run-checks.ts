import { destinationsOf } from '../../app/destinations.js';
import { indexOfCommand, type OpenLedger, openLedger } from '../../app/open-ledger.js';
import { openCommandOutbox } from '../../app/open-outbox.js';
import { speechOptions } from '../../app/speech-options.js';
import { knownStore } from '../../app/store/known-stores.js';
import { storeOptions } from '../../app/store/store-options.js';
import { createErasures } from '../../archive/erasure/erasures.js';
import { storePlaces } from '../../archive/store-places.js';
import type { Config } from '../../config/config.js';
import { cacheFolder, proxies } from '../../config/load/environment.js';
import { warningsOfProcess } from '../../config/rules/warnings.js';
import { newDeliveryId } from '../../ledger/ledger-line.js';
import { readStoreLocation } from '../../lib/text/store-location.js';
import { createSpeechClients } from '../../speech/speech.js';
import { type ObjectStore, StoreGoneError, UnmarkedStoreError } from '../../store/object-store.js';
import { assertMayBegin, assertStoreExists } from '../../store/open-store.js';
import { boundedStore } from '../../store/probe/bounded-store.js';
import { readLifecycle } from '../../store/s3/bucket/bucket-lifecycle.js';
import { conditionOf } from '../../store/store-condition.js';
import { remedyOf } from '../../store/store-remedies.js';
import { chosenSource, credentialHeaders, sourceNamed } from '../shared/source-credential.js';
import { checkCallbacks } from './check-callbacks.js';
import { checkProxies } from './check-proxies.js';
import { checkPublic } from './check-public.js';
import { checkService } from './check-service.js';
import { checkStore } from './check-store.js';
import { checkSubscribers } from './check-subscribers.js';
import { errorMessage, type Finding, failed, passed, skipped, warned } from './finding.js';

/** Options of the checks of the public address. */
export interface DoctorOptions {
  readonly url?: URL;
  readonly source?: string;
  readonly credential?: string;
}

/** Milliseconds to a response of the public address. */
const PUBLIC_TIMEOUT = 10_000;
/** Largest time-out in milliseconds for reading the lifecycle rules of the bucket. */
const BUCKET_TIMEOUT = 10_000;
/** Milliseconds for each region of the service: a key and a list, with all retries. */
const SERVICE_TIMEOUT = 30_000;

/** Runs all checks: this machine, the store, the service, the subscribers and, if one is given, the public address. */
export async function runChecks(config: Config, options: DoctorOptions): Promise<Finding[]> {
  const target = options.url === undefined ? null : publicTarget(config, options);
  const here = [
    ...configuration(config),
    ...checkProxies(proxies(), await destinationsOf(config, options.url)),
  ];
  const indexed = { ...indexOfCommand(config), wrapStore: boundedStore };
  const opened = await openLedger(config, indexed).catch(errorMessage);
  if (typeof opened === 'string') {
    const service = await tried('service', serviceFindings(config));
    return [
      ...here,
      failed('store', `${opened}.`, STORE_SETTINGS),
      ...service,
      ...withoutStore(config, target),
    ];
  }
  const { store } = opened;
  const outside = async () =>
    target === null ? [] : checkPublic({ ...target, store, timeout: PUBLIC_TIMEOUT, proxies: proxies() });
  try {
    const found = await Promise.all([
      tried('store', storeFindings(config, opened)),
      tried('service', serviceFindings(config)),
      tried('public address', outside()),
      tried('subscribers', subscriberFindings(config, store)),
    ]);
    return [...here, ...found.flat()];
  } finally {
    await opened.close();
  }
}

const STORE_SETTINGS = 'Correct the settings below store; docs/stores.md has them for each kind of store.';
const REPORT = 'The other checks say more. If they do not, report it.';

/** Turns a fault of one check into a finding, so that the others run. */
function tried(check: string, work: Promise<Finding[]>): Promise<Finding[]> {
  return work.catch((error: unknown) => [
    failed(check, `It could not be checked: ${errorMessage(error)}.`, REPORT),
  ]);
}

/** The checks that need the store. */
function withoutStore({ subscribers }: Config, target: object | null): Finding[] {
  const names = [
    ...(Object.keys(subscribers).length > 0 ? ['subscribers'] : []),
    ...(target === null ? [] : ['public address']),
  ];
  return names.map((name) => skipped(name, 'Not checked, because the store cannot be opened.'));
}

function configuration(config: Config): Finding[] {
  const warnings = warningsOfProcess(config);
  if (warnings.length === 0) return [passed('configuration', 'It is valid.')];
  return warnings.map((text) => warned('configuration', `${text}.`, 'See docs/configuration.md.'));
}

async function storeFindings(config: Config, { store, view }: OpenLedger): Promise<Finding[]> {
  const missing = await assertStoreExists(config.store.url).then(() => null, gone);
  if (missing === null || config.store.id !== null) {
    const [found, callbacks] = await Promise.all([checkOpened(config, store), checkCallbacks(view, store)]);
    return [...callbacks, ...found];
  }
  const known = knownStore(cacheFolder(), store.location);
  if (known !== null || missing instanceof UnmarkedStoreError) {
    const before = known === null ? '' : `; ${known.id} was there at ${known.seenAt}`;
    return [failed('store', `${missing.message}${before}.`, remedyOf('missing'))];
  }
  const advice = 'If a receiver has stored there before, mount the volume or correct store.url.';
  return [warned('store folder', `${missing.message}.`, advice), await checkBeginning(config)];
}

function gone(error: unknown): StoreGoneError | null {
  return error instanceof StoreGoneError ? error : null;
}

/** Checks whether a store could be created in the folder. Creates none, because that would hide that a volume is not mounted. */
function checkBeginning({ store: { url } }: Config): Promise<Finding> {
  return assertMayBegin(url).then(
    () => passed('store', 'A receiver can begin one there, and tries it at its start.'),
    (error: unknown) => failed('store', `${errorMessage(error)}.`, remedyOf(conditionOf(error) ?? 'denied')),
  );
}

function checkOpened(config: Config, store: ObjectStore): Promise<Finding[]> {
  return checkStore({
    store,
    acceptWeak: config.store.s3.conditionalWrites === 'emulated',
    lifecycle: lifecycleOf(config),
    places: storePlaces(config, store, createErasures(store)),
    canaryInterval: config.store.canaryInterval,
    isPinned: config.store.id !== null,
    known: knownStore(cacheFolder(), store.location),
    retention: {
      periods: config.retention,
      keyPrefixes: config.keyPrefixes,
      tags: config.store.s3.tags,
    },
  });
}

async function subscriberFindings(config: Config, store: ObjectStore): Promise<Finding[]> {
  const outbox = openCommandOutbox(config, store);
  try {
    return await checkSubscribers(
      Object.keys(config.subscribers),
      (name, event) => outbox.send(name, event, new AbortController().signal),
      newDeliveryId,
    );
  } finally {
    await outbox.stop();
  }
}

function lifecycleOf(config: Config): ReturnType<typeof readLifecycle> | null {
  const { url, s3 } = storeOptions(config);
  const place = readStoreLocation(url);
  if (!('bucket' in place)) return null;
  const requestTimeoutMs = Math.min(s3?.requestTimeoutMs ?? BUCKET_TIMEOUT, BUCKET_TIMEOUT);
  return readLifecycle({ ...place, settings: { ...s3, requestTimeoutMs } });
}

/** Longest pause that the service may ask for, in milliseconds. */
const LONGEST_PAUSE = 2_000;

async function serviceFindings(config: Config): Promise<Finding[]> {
  // Fails fast, because a person waits for the result.
  const speech = createSpeechClients({
    ...speechOptions(config),
    retries: 1,
    retry: { maxPauseMs: LONGEST_PAUSE },
  });
  try {
    return await checkService(speech, config.speech.apiKey !== null, SERVICE_TIMEOUT);
  } finally {
    await speech.close();
  }
}

function publicTarget(config: Config, options: DoctorOptions) {
  const name = chosenSource(config, options.source);
  const source = sourceNamed(config, name);
  return {
    url: options.url as URL,
    source: name,
    credential: credentialHeaders(source, options.credential, Date.now()),
    maxBytes: source.maxBytes,
    trustedProxies: config.receiver.trustedProxies,
  };
}

import { createErasures } from '../../archive/erasure/erasures.js';
import { createRecordCheck } from '../../index/questions/record-check.js';
import type { Metrics } from '../../observe/metrics/metrics.js';
import { reportIndex } from '../../operations/admin/report-index.js';
import type { OnStoreCall } from '../../store/probe/measure-store.js';
import { openArchiveParts } from '../archive-parts.js';
import type { ServiceLimits } from '../fixed-limits.js';
import { indexOfService, type OpenLedgerOptions } from '../open-ledger.js';
import { openOutbox } from '../open-outbox.js';
import { createStoreFailureLog } from '../store/store-failure-log.js';
import { StoreHealth } from '../store/store-health.js';
import type { ServiceOptions } from './service-options.js';

export type OpenStorage = Awaited<ReturnType<typeof openStorage>>;

/** Store, archive, ledger and outbox of a service, and the health checks of the store. */
export async function openStorage(
  options: ServiceOptions,
  metrics: Metrics,
  { freshWithin }: Pick<ServiceLimits, 'freshWithin'>,
) {
  const { config, log, cacheFolder = null, probe } = options;
  const onStoreCall: OnStoreCall[] = [metrics.store.called];
  const onSegment = [metrics.ledger.segmentWritten];
  let knownKeys = (): readonly string[] => [];
  const opening: OpenLedgerOptions = {
    indexFiles: indexOfService(config, cacheFolder),
    startIndex: options.startIndex,
    onStoreCall,
    knownKeys: () => knownKeys(),
    onStoreNotice: (message) => log.warn({ event: 'store-notice' }, message),
    onIndexOpened: reportIndex(log),
  };
  const parts = await openArchiveParts(config, opening, onSegment);
  const { store, ledger, view } = parts;
  const erasures = createErasures(store);
  const failures = createStoreFailureLog(log);
  const storeHealth = new StoreHealth(config, { store, erasures, ledger, log, failures, cacheFolder, probe });
  onStoreCall.push(storeHealth.called);
  knownKeys = () => [...ledger.lastSegments(), ...storeHealth.written()];
  const facts = { isErased: erasures.has, isRecorded: createRecordCheck(view, freshWithin) };
  const outbox = openOutbox(config, store, facts, metrics.outbox, log, failures, options.outboxTimes);
  if (Object.keys(config.subscribers).length > 0) onSegment.push(outbox.wake);
  return { parts, erasures, failures, storeHealth, outbox };
}

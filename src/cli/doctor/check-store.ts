import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readBack } from '../../archive/read-back.js';
import type { StorePlace } from '../../archive/store-places.js';
import type { ObjectStore, StoreTraits } from '../../store/object-store.js';
import {
  type ConditionFinding,
  objectLockWarning,
  type ProbeReport,
  probeStore,
} from '../../store/probe/probe-store.js';
import type { BucketLifecycle } from '../../store/s3/bucket/bucket-lifecycle.js';
import { conditionOf } from '../../store/store-condition.js';
import { remedyOf } from '../../store/store-remedies.js';
import { checkPlaces } from './check-places.js';
import { checkReplicas } from './check-replicas.js';
import { checkRetention, type RetentionCheck } from './check-retention.js';
import { errorMessage, type Finding, failed, passed, skipped, warned } from './finding.js';

export interface StoreCheckOptions {
  readonly store: ObjectStore;
  /** The configuration accepts a store without atomic conditional writes. */
  readonly acceptWeak: boolean;
  /** Lifecycle rules of the bucket; null for a file store. */
  readonly lifecycle: Promise<BucketLifecycle> | null;
  readonly retention: Omit<RetentionCheck, 'daysUntilEnd'>;
  /** Places that a receiver writes to. */
  readonly places: readonly StorePlace[];
  /** Whether the configuration pins the id of the store. */
  readonly isPinned: boolean;
  /** Store that this machine last saw at the address; null without a record. */
  readonly known: { readonly id: string; readonly seenAt: string } | null;
  /** Milliseconds between the checks of a receiver's canary. */
  readonly canaryInterval: number;
}

const HEADERS = { contentType: 'application/octet-stream', metadata: {} };

/** Milliseconds. AWS rejects requests whose clock is 15 minutes off; ledger and expiries are wrong long before. */
const SKEW = { warn: 30_000, fail: 300_000 };

/** Performs the receiver's operations on the store, below dot-folders, and removes what it wrote. Never throws. */
export async function checkStore(options: StoreCheckOptions): Promise<Finding[]> {
  const { store, acceptWeak, retention, places, canaryInterval } = options;
  const [rules, traits, report, replicas] = await Promise.all([
    options.lifecycle,
    store.traits?.() ?? null,
    probeStore(store),
    checkReplicas(store, canaryInterval),
  ]);
  const bucket = [
    clock(store.clockOffset(), report),
    ...(rules === null
      ? []
      : [lifecycle(rules.endsIncompleteUploads), ...checkRetention({ ...retention, ...rules })]),
    ...(traits === null ? [] : [versions(traits)]),
  ];
  if (!report.writable) return [unusable(store, report), ...replicas, ...bucket];
  return [
    passed('store', `${store.location}: objects were written, read back and compared, listed and deleted.`),
    await orFailed(STORE_ID, () => storeId(options)),
    conditions(report, acceptWeak),
    await orFailed('store multipart', () => multipart(store, `.doctor/${randomUUID()}/upload`)),
    ...(await checkPlaces(places, store)),
    ...replicas,
    ...bucket,
  ];
}

function unusable(store: ObjectStore, report: ProbeReport): Finding {
  return failed('store', `${store.location}: ${report.findings.join(' ')}`, remedyFor(report));
}

function remedyFor({ unfit, condition }: ProbeReport): string {
  if (unfit !== null) return 'Use another store: docs/stores.md, "Which servers work".';
  return condition === null
    ? 'Check address, bucket, credentials and permissions (docs/stores.md, "Permissions").'
    : remedyOf(condition);
}

const STORE_ID = 'store id';

async function storeId({ store, isPinned, known }: StoreCheckOptions): Promise<Finding> {
  const check = STORE_ID;
  const id = await store.identity();
  if (!isPinned && known !== null && known.id !== id) {
    const is = id === null ? 'It holds no store' : `It is ${id}`;
    const advice = `${remedyOf('missing')} If this one is right, set store.id to its id, which a receiver gives to a new one.`;
    return failed(check, `${is}, and ${known.id} was here at ${known.seenAt}.`, advice);
  }
  if (id === null) return skipped(check, 'Nothing was stored here yet.');
  if (isPinned) return passed(check, `This is the store that store.id pins: ${id}.`);
  return passed(check, `${id}. With store.id set to it, a receiver never begins another store in its place.`);
}

function conditions(report: ProbeReport, acceptWeak: boolean): Finding {
  const check = 'store conditional writes';
  if (report.trustworthy) {
    return passed(check, 'Nothing is overwritten, even by simultaneous writers.');
  }
  const found = report.findings.slice(1).join(' ');
  const isWeak = (finding: ConditionFinding) => finding === 'ignored' || finding === 'racy';
  const onlyWeak = [report.conditionalPut, report.conditionalComplete].every(
    (finding) => finding === 'holds' || isWeak(finding),
  );
  const advice = 'Use a store with atomic conditional writes; docs/stores.md lists some.';
  return acceptWeak && onlyWeak
    ? warned(check, `${found} The configuration accepts this (emulated).`, advice)
    : failed(check, found, advice);
}

/** Uploads a full part and a short one, like a streamed artefact. */
async function multipart(store: ObjectStore, key: string): Promise<Finding> {
  const check = 'store multipart';
  const written = createHash('sha256');
  const upload = await store.startUpload(key, HEADERS);
  try {
    for (const size of [store.partSize, 1000]) {
      const part = randomBytes(size);
      written.update(part);
      await upload.write(part);
    }
    await upload.complete();
    const same = (await readBack(store, key))?.sha256 === written.digest('hex');
    return same
      ? passed(check, 'An upload in two parts reads back identically.')
      : failed(check, 'An upload in two parts reads back differently.', 'This store cannot be used.');
  } finally {
    await upload.abort();
    await store.delete(key);
  }
}

async function orFailed(check: string, look: () => Promise<Finding>): Promise<Finding> {
  return look().catch((error: unknown) =>
    failed(check, errorMessage(error), remedyOf(conditionOf(error) ?? 'denied')),
  );
}

function versions({ versioning, objectLock, defaultRetention, fault }: StoreTraits): Finding {
  const check = 'store versions';
  const advice = 'See docs/stores.md, "Versioning and Object Lock".';
  if (fault !== null) return failed(check, `${fault}.`, advice);
  if (defaultRetention !== null) return warned(check, objectLockWarning(defaultRetention), advice);
  if (objectLock) {
    return warned(
      check,
      'Object Lock is on, without a default retention: only what store.s3.lock names is locked. The canary leaves an old ' +
        'version every store.canaryInterval.',
      'Add a lifecycle rule that expires noncurrent versions of .canary/ (docs/stores.md, "Versioning and Object Lock").',
    );
  }
  if (versioning === null) return skipped(check, 'The versioning of the bucket cannot be read.');
  if (versioning === 'off') return passed(check, 'The bucket keeps no versions: erased objects are gone.');
  return warned(
    check,
    versioning === 'on'
      ? 'Versioning is on: every write of the canary remains as an old version.'
      : 'Versioning is suspended: old versions remain from when it was on.',
    'Add a lifecycle rule that expires noncurrent versions (docs/stores.md, "Versioning and Object Lock").',
  );
}

/** @param offset as of `ObjectStore.clockOffset` */
function clock(offset: number, { writable }: ProbeReport): Finding {
  const check = 'clock';
  if (offset === 0 && !writable) return skipped(check, "No answer showed the store's clock.");
  const off = `This machine's clock is ${Math.round(Math.abs(offset) / 1000)} s ${offset > 0 ? 'behind' : 'ahead of'} the store's.`;
  const advice = 'Synchronise the clock of this machine (chrony, systemd-timesyncd).';
  if (Math.abs(offset) >= SKEW.fail) return failed(check, off, advice);
  return Math.abs(offset) >= SKEW.warn ? warned(check, off, advice) : passed(check, off);
}

function lifecycle(ends: BucketLifecycle['endsIncompleteUploads']): Finding {
  const check = 'store lifecycle';
  if (typeof ends === 'object') {
    return skipped(check, `The bucket's lifecycle rules cannot be read (${ends.unknown}).`);
  }
  return ends
    ? passed(check, 'A lifecycle rule aborts incomplete uploads.')
    : warned(
        check,
        'No lifecycle rule aborts incomplete uploads: uploads of dead replicas cost money until a sweep finds them.',
        'Add the rule of docs/stores.md, "Lifecycle" (k8s/s3/lifecycle.json).',
      );
}

import { randomUUID } from 'node:crypto';
import { withDeadline } from '../../lib/time/deadline.js';
import type {
  CreateResult,
  ObjectHeaders,
  ObjectStore,
  PendingUpload,
  StoreTraits,
} from '../object-store.js';
import { readText } from '../read-to-end.js';
import { conditionOf } from '../store-condition.js';
import type { StoreCondition } from '../store-remedies.js';
import { boundedStore } from './bounded-store.js';
import { probeListing } from './probe-listing.js';
import { probeOperations } from './probe-operations.js';
import type { ProbePlace } from './probe-place.js';
import { probeTags } from './probe-tags.js';

/**
 * Whether a condition holds. `ignored`: an object was overwritten without a concurrent writer. `racy`: only concurrent
 * writers overwrote each other. `refused`: the store answered with an error.
 */
export type ConditionFinding = 'holds' | 'ignored' | 'racy' | 'refused' | 'untested';

export interface ProbeReport {
  /** An object was written and read back with the same bytes and metadata. */
  readonly writable: boolean;
  /** Why the object could not be written and read back, where the store says it; otherwise null. */
  readonly condition: StoreCondition | null;
  /** `create` never replaces an object, not even with concurrent writers. */
  readonly conditionalPut: ConditionFinding;
  /** Completing an upload never replaces an object, not even with concurrent writers. */
  readonly conditionalComplete: ConditionFinding;
  /** A violation that no setting compensates; null when none was found. */
  readonly unfit: string | null;
  /** First write wins can be relied on. */
  readonly trustworthy: boolean;
  /** One sentence per finding, for the log and the operator. */
  readonly findings: readonly string[];
  /** Messages for the operator about a store that can be trusted. */
  readonly warnings: readonly string[];
}

/** How often writers race for a key. */
interface Races {
  readonly puts: number;
  readonly completions: number;
}

/**
 * A server may pass a race by chance: one that fails one race in three passes twelve with a probability of 0.8 %. A file
 * system links atomically or not at all.
 */
const RACES: Readonly<Record<'file' | 'server', Races>> = {
  file: { puts: 3, completions: 1 },
  server: { puts: 12, completions: 3 },
};
const RACES_AT_ONCE = 4;
const CREATORS = 8;
const UPLOADERS = 3;
const HEADERS: ObjectHeaders = { contentType: 'text/plain', metadata: { probe: 'yes' } };

/** Folder of the probe's objects. */
const FOLDER = '.probe/';

/**
 * Tests a store by writing below `.probe/` and removing the objects again. Never throws. Ends in bounded time even when
 * the store never answers.
 *
 * @param callTimeout milliseconds that each call may take, the store's own retries included
 */
export async function probeStore(store: ObjectStore, callTimeout = 10_000): Promise<ProbeReport> {
  const races = RACES[store.location.startsWith('file:') ? 'file' : 'server'];
  const place = createPlace(boundedStore(store, callTimeout), `${FOLDER}${randomUUID()}/`);
  try {
    const failed = await writeAndReadBack(place);
    const traits = failed === null ? await traitsOf(store, callTimeout) : null;
    const fault = failed?.reason ?? traits?.fault ?? (await probeTags(place));
    if (fault !== null) return unusable(fault, failed?.condition ?? null);
    const put = await tryCondition(() => conditionalPut(place, races.puts));
    const complete = await tryCondition(() => conditionalComplete(place, races.completions));
    const found = withTraits(report(put, complete, null), traits);
    // The store refuses writes, so that nothing more can be tested.
    if (put.finding === 'refused') return found;
    const unfit = (await probeListing(place)) ?? (await probeOperations(place));
    return unfit === null ? found : { ...unusable(unfit, null), unfit };
  } catch (error) {
    return unusable((error as Error).message, conditionOf(error));
  } finally {
    await cleanUp(place);
  }
}

/** A finding, and the error of a store that refused. */
interface Tried {
  readonly finding: ConditionFinding;
  readonly reason: string | null;
}

const UNTESTED: Tried = { finding: 'untested', reason: null };

/** Throws errors that concern the whole store or this process, such as a full disk: they say nothing about the condition. */
async function tryCondition(run: () => Promise<ConditionFinding>): Promise<Tried> {
  try {
    return { finding: await run(), reason: null };
  } catch (error) {
    if (conditionOf(error) !== null) throw error;
    return { finding: 'refused', reason: error instanceof Error ? error.message : null };
  }
}

function unusable(fault: string, condition: StoreCondition | null): ProbeReport {
  return { ...report(UNTESTED, UNTESTED, `The store is not usable: ${fault}.`), condition };
}

function inWords({ finding, reason }: Tried): string {
  return reason === null ? FINDING_TEXTS[finding] : `${FINDING_TEXTS[finding]} (${reason})`;
}

const FINDING_TEXTS: Readonly<Record<ConditionFinding, string>> = {
  holds: 'never replace an object',
  ignored: 'REPLACE objects: the store ignores the condition',
  racy: 'REPLACE objects when two come at the same moment: the condition is not atomic',
  refused: 'FAIL: the store answered with an error',
  untested: 'were not tested',
};

function report(put: Tried, complete: Tried, fault: string | null): ProbeReport {
  const findings =
    fault === null
      ? [
          'Objects are written, read back, listed in order and deleted.',
          `Conditional writes ${inWords(put)}.`,
          `Conditional completions of uploads ${inWords(complete)}.`,
        ]
      : [fault];
  const conditionalPut = put.finding;
  const conditionalComplete = complete.finding;
  const trustworthy = conditionalPut === 'holds' && conditionalComplete === 'holds';
  return {
    writable: fault === null,
    condition: null,
    unfit: null,
    conditionalPut,
    conditionalComplete,
    trustworthy,
    findings,
    warnings: [],
  };
}

async function traitsOf(store: ObjectStore, milliseconds: number): Promise<StoreTraits | null> {
  if (store.traits === undefined) return null;
  return withDeadline(store.traits(), milliseconds, 'the bucket did not describe itself in time').catch(
    () => null,
  );
}

/** Adds the versioning to the report, because on some servers conditions are not atomic in versioned buckets. */
function withTraits(given: ProbeReport, traits: StoreTraits | null): ProbeReport {
  const retention = traits?.defaultRetention ?? null;
  const found = retention === null ? given : { ...given, warnings: [objectLockWarning(retention)] };
  if (traits?.versioning !== 'on' && traits?.versioning !== 'suspended') return found;
  const state = `Versioning of the bucket is ${traits.versioning}`;
  const said = found.trustworthy
    ? `${state}.`
    : `${state}, and Ceph's conditions are not atomic in versioned buckets: use one that never was.`;
  return { ...found, findings: [...found.findings, said] };
}

/** Warns of the cost of a default retention of the bucket. */
export function objectLockWarning(retention: string): string {
  return (
    `The bucket locks every new object (${retention}), also the canary: each replica leaves a locked version of it every ` +
    'store.canaryInterval (8,640 a day by default), and all objects that are erased or replaced: remove the default ' +
    'retention and set store.s3.lock, which locks artefacts and ledger segments only.'
  );
}

function createPlace(store: ObjectStore, folder: string): ProbePlace {
  const keys: string[] = [];
  function newKey(name: string): string {
    const key = `${folder}${name}`;
    keys.push(key);
    return key;
  }
  return { store, folder, headers: HEADERS, newKey, keys, uploads: [] };
}

/** Resolves to the failure, or to null. */
async function writeAndReadBack({ store, newKey }: ProbePlace) {
  try {
    const key = newKey('write');
    const body = randomUUID();
    await store.create(key, Buffer.from(body), HEADERS);
    if ((await readText(store, key)) !== body)
      return { reason: 'it gave back other bytes than were written', condition: null };
    const metadata = (await store.head(key))?.metadata;
    return metadata?.probe === 'yes' ? null : { reason: 'it does not keep metadata', condition: null };
  } catch (error) {
    return { reason: error instanceof Error ? error.message : 'it failed', condition: conditionOf(error) };
  }
}

async function conditionalPut({ store, newKey }: ProbePlace, rounds: number): Promise<ConditionFinding> {
  const key = newKey('twice');
  await store.create(key, Buffer.from('first'), HEADERS);
  const second = await store.create(key, Buffer.from('second'), HEADERS);
  if (second !== 'exists' || (await readText(store, key)) !== 'first') return 'ignored';
  const isAtomic = await allRounds(rounds, async (round) => {
    const raced = newKey(`race-${round}`);
    const bodies = Array.from({ length: CREATORS }, (_, n) => Buffer.from(`body ${n}`));
    const results = await Promise.all(bodies.map((body) => store.create(raced, body, HEADERS)));
    return isConsistent(store, raced, results);
  });
  return isAtomic ? 'holds' : 'racy';
}

async function conditionalComplete(place: ProbePlace, rounds: number): Promise<ConditionFinding> {
  const { store, newKey } = place;
  const key = newKey('upload-taken');
  const late = await upload(place, key, 'late');
  await store.create(key, Buffer.from('early'), HEADERS);
  if ((await late.complete()) !== 'exists' || (await readText(store, key)) !== 'early') return 'ignored';
  const isAtomic = await allRounds(rounds, async (round) => {
    const raced = newKey(`upload-race-${round}`);
    const names = Array.from({ length: UPLOADERS }, (_, n) => `body ${n}`);
    const racers = await Promise.all(names.map((name) => upload(place, raced, name)));
    const results = await Promise.all(racers.map((racer) => racer.complete()));
    return isConsistent(store, raced, results);
  });
  return isAtomic ? 'holds' : 'racy';
}

async function upload({ store, uploads }: ProbePlace, key: string, text: string): Promise<PendingUpload> {
  const pending = await store.startUpload(key, HEADERS);
  uploads.push(pending);
  await pending.write(Buffer.from(text));
  return pending;
}

/** After a lost answer the winner sees `exists`. What counts is that no other writer sees `created`. */
async function isConsistent(
  store: ObjectStore,
  key: string,
  results: readonly CreateResult[],
): Promise<boolean> {
  const content = await readText(store, key);
  const winners = results.flatMap((result, index) => (result === 'created' ? [`body ${index}`] : []));
  const isOneOfThem = results.some((_, index) => content === `body ${index}`);
  return winners.length <= 1 && isOneOfThem && (winners.length === 0 || winners[0] === content);
}

/** Removes what the probe wrote. Where that is denied, a few bytes below the probe's prefix remain. */
async function cleanUp({ store, keys, uploads }: ProbePlace): Promise<void> {
  await Promise.allSettled(uploads.map((pending) => pending.abort()));
  await Promise.allSettled(keys.map((key) => store.delete(key)));
}

/** Whether every round passed; stops after the first batch in which one did not. */
async function allRounds(rounds: number, run: (round: number) => Promise<boolean>): Promise<boolean> {
  for (let first = 0; first < rounds; first += RACES_AT_ONCE) {
    const batch = Array.from({ length: Math.min(RACES_AT_ONCE, rounds - first) }, (_, n) => run(first + n));
    const passed = await Promise.all(batch);
    if (passed.includes(false)) return false;
  }
  return true;
}

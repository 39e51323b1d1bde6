import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { withDeadline } from '../time/deadline.js';
import type {
  CreateResult,
  ObjectHeaders,
  ObjectInfo,
  ObjectStore,
  PendingUpload,
  StoreTraits,
} from './object-store.js';

/**
 * Whether a condition holds. `ignored`: an object was overwritten although nobody else was writing.
 * `racy`: only writers at the same moment overwrote each other. `refused`: the store answered with an error.
 */
export type ConditionFinding = 'holds' | 'ignored' | 'racy' | 'refused' | 'untested';

export interface ProbeReport {
  /** An object was written, and read back with the same bytes and metadata. */
  readonly writable: boolean;
  /** `create` never replaces an object, also not under concurrency. */
  readonly conditionalPut: ConditionFinding;
  /** Completing an upload never replaces an object, also not under concurrency. */
  readonly conditionalComplete: ConditionFinding;
  /** All of the above: first write wins can be relied on. */
  readonly trustworthy: boolean;
  /** One sentence per finding, for the log and the operator. */
  readonly findings: readonly string[];
}

/** How often writers race for a key. */
interface Races {
  readonly puts: number;
  readonly completions: number;
}

/**
 * A server may be atomic by chance, when its writers do not happen to meet: one that fails one race in three passes
 * twelve with a probability of 0.8 %. A file system links atomically or not at all.
 */
const RACES: Readonly<Record<'file' | 'server', Races>> = {
  file: { puts: 3, completions: 1 },
  server: { puts: 12, completions: 3 },
};
const RACES_AT_ONCE = 4;
const CREATORS = 8;
const UPLOADERS = 3;
const HEADERS: ObjectHeaders = { contentType: 'text/plain', metadata: { probe: 'yes' } };

export interface ProbeOptions {
  /** Folder for the probe's objects, ending in `/`. Default `.probe/`. */
  readonly prefix?: string;
  /** Milliseconds each call has to end, the store's own retries included. Default 10,000. */
  readonly callTimeout?: number;
}

/**
 * Finds out what a store really does, by writing below `prefix` and removing it again. Never throws, and ends
 * in bounded time also when the store never answers.
 */
export async function probeStore(store: ObjectStore, options: ProbeOptions = {}): Promise<ProbeReport> {
  const { prefix = '.probe/', callTimeout = 10_000 } = options;
  const races = RACES[store.location.startsWith('file:') ? 'file' : 'server'];
  const probe = createProbe(impatient(store, callTimeout), `${prefix}${randomUUID()}/`, races);
  try {
    const trouble = await probe.writeAndReadBack();
    if (trouble !== null) return report('untested', 'untested', `The store is not usable: ${trouble}.`);
    const put = await finding(() => probe.conditionalPut());
    const complete = await finding(() => probe.conditionalComplete());
    return withTraits(report(put, complete, null), await traitsOf(store, callTimeout));
  } finally {
    await probe.cleanUp();
  }
}

async function finding(run: () => Promise<ConditionFinding>): Promise<ConditionFinding> {
  return run().catch(() => 'refused');
}

const WORDS: Readonly<Record<ConditionFinding, string>> = {
  holds: 'never replace an object',
  ignored: 'REPLACE objects: the store ignores the condition',
  racy: 'REPLACE objects when two come at the same moment: the condition is not atomic',
  refused: 'FAIL: the store refuses the condition',
  untested: 'were not tested',
};

function report(
  conditionalPut: ConditionFinding,
  conditionalComplete: ConditionFinding,
  trouble: string | null,
): ProbeReport {
  const findings =
    trouble === null
      ? [
          'Objects are written and read back unchanged.',
          `Conditional writes ${WORDS[conditionalPut]}.`,
          `Conditional completions of uploads ${WORDS[conditionalComplete]}.`,
        ]
      : [trouble];
  const trustworthy = conditionalPut === 'holds' && conditionalComplete === 'holds';
  return { writable: trouble === null, conditionalPut, conditionalComplete, trustworthy, findings };
}

/** The part of a store that the probe uses; `read` gives the whole body, so that its deadline covers it. */
interface ProbedStore {
  create(key: string, body: Buffer, headers: ObjectHeaders): Promise<CreateResult>;
  head(key: string): Promise<ObjectInfo | null>;
  readText(key: string): Promise<string | null>;
  startUpload(key: string, headers: ObjectHeaders): Promise<PendingUpload>;
  delete(key: string): Promise<void>;
}

/** A store whose calls fail when they have not ended in time. */
function impatient(store: ObjectStore, milliseconds: number): ProbedStore {
  function bounded<T>(operation: string, call: Promise<T>): Promise<T> {
    return withDeadline(
      call,
      milliseconds,
      `${operation}: the store did not answer within ${milliseconds} ms`,
    );
  }

  async function readText(key: string): Promise<string | null> {
    const reading = await store.read(key);
    return reading && (await buffer(reading.body)).toString();
  }

  return {
    create: (key, body, headers) => bounded('create', store.create(key, body, headers)),
    head: (key) => bounded('head', store.head(key)),
    readText: (key) => bounded('read', readText(key)),
    delete: (key) => bounded('delete', store.delete(key)),
    async startUpload(key, headers) {
      const upload = await bounded('startUpload', store.startUpload(key, headers));
      return {
        write: (part) => bounded('write', upload.write(part)),
        complete: () => bounded('complete', upload.complete()),
        abort: () => bounded('abort', upload.abort()),
      };
    },
  };
}

async function traitsOf(store: ObjectStore, milliseconds: number): Promise<StoreTraits | null> {
  if (store.traits === undefined) return null;
  return withDeadline(store.traits(), milliseconds, 'the bucket did not describe itself in time').catch(
    () => null,
  );
}

/** Versioning changes what a condition is worth on some servers, so that a verdict is only complete with it. */
function withTraits(found: ProbeReport, traits: StoreTraits | null): ProbeReport {
  if (traits?.versioning !== 'on' && traits?.versioning !== 'suspended') return found;
  const state = `Versioning of the bucket is ${traits.versioning}`;
  const said = found.trustworthy
    ? `${state}.`
    : `${state}, and Ceph's conditions are not atomic in versioned buckets: use one that never was.`;
  return { ...found, findings: [...found.findings, said] };
}

interface Probe {
  /** What is wrong, or null. */
  writeAndReadBack(): Promise<string | null>;
  conditionalPut(): Promise<ConditionFinding>;
  conditionalComplete(): Promise<ConditionFinding>;
  cleanUp(): Promise<void>;
}

function createProbe(store: ProbedStore, folder: string, races: Races): Probe {
  const keys: string[] = [];
  const uploads: PendingUpload[] = [];

  function newKey(name: string): string {
    const key = `${folder}${name}`;
    keys.push(key);
    return key;
  }

  async function upload(key: string, text: string): Promise<PendingUpload> {
    const pending = await store.startUpload(key, HEADERS);
    uploads.push(pending);
    await pending.write(Buffer.from(text));
    return pending;
  }

  /** With an answer lost the winner may not know of itself; what counts is that nobody else claims to have won. */
  async function isConsistent(key: string, results: readonly CreateResult[]): Promise<boolean> {
    const content = await store.readText(key);
    const winners = results.flatMap((result, index) => (result === 'created' ? [`body ${index}`] : []));
    const isOneOfThem = results.some((_, index) => content === `body ${index}`);
    return winners.length <= 1 && isOneOfThem && (winners.length === 0 || winners[0] === content);
  }

  return {
    async writeAndReadBack() {
      try {
        const key = newKey('write');
        const body = randomUUID();
        await store.create(key, Buffer.from(body), HEADERS);
        if ((await store.readText(key)) !== body) return 'it gave back other bytes than were written';
        const metadata = (await store.head(key))?.metadata;
        return metadata?.probe === 'yes' ? null : 'it does not keep metadata';
      } catch (error) {
        return error instanceof Error ? error.message : 'it failed';
      }
    },

    async conditionalPut() {
      const key = newKey('twice');
      await store.create(key, Buffer.from('first'), HEADERS);
      const second = await store.create(key, Buffer.from('second'), HEADERS);
      if (second !== 'exists' || (await store.readText(key)) !== 'first') return 'ignored';
      const isAtomic = await allRounds(races.puts, async (round) => {
        const raced = newKey(`race-${round}`);
        const bodies = Array.from({ length: CREATORS }, (_, n) => Buffer.from(`body ${n}`));
        const results = await Promise.all(bodies.map((body) => store.create(raced, body, HEADERS)));
        return isConsistent(raced, results);
      });
      return isAtomic ? 'holds' : 'racy';
    },

    async conditionalComplete() {
      const key = newKey('upload-taken');
      const late = await upload(key, 'late');
      await store.create(key, Buffer.from('early'), HEADERS);
      if ((await late.complete()) !== 'exists' || (await store.readText(key)) !== 'early') return 'ignored';
      const isAtomic = await allRounds(races.completions, async (round) => {
        const raced = newKey(`upload-race-${round}`);
        const names = Array.from({ length: UPLOADERS }, (_, n) => `body ${n}`);
        const racers = await Promise.all(names.map((name) => upload(raced, name)));
        const results = await Promise.all(racers.map((racer) => racer.complete()));
        return isConsistent(raced, results);
      });
      return isAtomic ? 'holds' : 'racy';
    },

    async cleanUp() {
      // What cannot be removed now is a few bytes under a name nobody reads.
      await Promise.allSettled(uploads.map((pending) => pending.abort()));
      await Promise.allSettled(keys.map((key) => store.delete(key)));
    },
  };
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

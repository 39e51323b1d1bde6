import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ulid } from 'ulid';
import { createErasedJobs } from '../../../../../src/archive/erasure/erased-jobs.js';
import { createErasures } from '../../../../../src/archive/erasure/erasures.js';
import { createQuarantine } from '../../../../../src/archive/quarantine/quarantine.js';
import { createQuarantineStore } from '../../../../../src/archive/quarantine/quarantine-store.js';
import { parseConfig } from '../../../../../src/config/config.js';
import { indexInThread } from '../../../../../src/index/fill/index-in-thread.js';
import { createLedgerView } from '../../../../../src/index/ledger-view.js';
import { createLedger } from '../../../../../src/ledger/write/ledger.js';
import { eraseJob } from '../../../../../src/operations/actions/erase/erase-job.js';
import {
  type ImportForm,
  importArtefacts,
} from '../../../../../src/operations/actions/import/import-artefacts.js';
import { releaseBody } from '../../../../../src/operations/actions/release-body.js';
import { processItem } from '../../../../../src/operations/actions/replay/replay-item.js';
import { createSources } from '../../../../../src/receive/access/sources.js';
import { Admission } from '../../../../../src/receive/admission.js';
import type { CallbackRequest } from '../../../../../src/receive/callback-request.js';
import { Receiver } from '../../../../../src/receive/receive.js';
import { refetchJob } from '../../../../../src/recovery/reconcile/fetch/refetch.js';
import { reconcile } from '../../../../../src/recovery/reconcile/reconcile.js';
import { EMPTY_INDEX } from '../../../../support/ledger/empty-index.js';
import { NEW_REPLAY } from '../../../../support/new-replay.js';
import { quarantinedRequest } from '../../../../support/quarantined-request.js';
import { type RecoveryFixture, recoveryFixture } from '../../../../support/recovery/recovery-fixture.js';
import { archiveOver, commit } from '../../../../support/store/archive-fixture.js';
import { interruptedStore } from '../../../../support/store/interrupted-store.js';
import { createMemoryStore, type MemoryStore } from '../../../../support/store/memory-store.js';

/*
 * An erasure on one replica beside everything that stores something on another: the erasure begins before each store call of
 * the other, stops between its own steps, lets the other end, and goes on.
 */

/** In every body and in the sender's names. */
const SECRET = 'Jane Roe';
const PART = 1024;
const AUDIT = { actor: 'ada', reason: null };

let recovery: RecoveryFixture;
let jobId: string;
beforeAll(async () => {
  recovery = await recoveryFixture();
  jobId = await recovery.lose();
});
afterAll(() => recovery.close());

const transcript = () =>
  JSON.stringify({ format: '2.9', job: { id: jobId }, metadata: {}, results: [], speaker: SECRET });

/** One process on the store; it learned of all erasures at time 0. */
function replica(store: MemoryStore, clock: { ms: number }) {
  const { archive, budget } = archiveOver(store, 32);
  const ledger = createLedger({ store, replica: 'a' });
  const { sources, egress } = parseConfig({ sources: { default: { maxBytes: 100_000 } } });
  const erasedJobs = createErasedJobs(store, [() => clock.ms]);
  const receiver = new Receiver({
    sources: createSources(sources, egress.regions, []),
    admission: new Admission({ maxConcurrent: 10, maxWaiters: 10 }, budget),
    archive,
    quarantine: createQuarantine(store),
    erasures: createErasures(store, erasedJobs),
    ledger,
    limits: { quarantineBytes: 10_000, lineWithin: 1_000 },
    observer: {
      delivered: () => {},
      refused: () => {},
      unauthenticated: () => {},
      refusalUnrecorded: () => {},
    },
  });
  const source = { contents: ['transcript'], maxBytes: 100_000, keyPrefix: '', context: [] } as const;
  const byName = new Map([['default', source]]);
  const release = {
    archive,
    ledger,
    sources: byName,
    view: EMPTY_INDEX,
    quarantine: createQuarantineStore(store),
  };
  const recoveryParts = { ...recovery.parts, store, archive, ledger };
  return { store, archive, ledger, receiver, release, recovery: recoveryParts, sources: byName, erasedJobs };
}
type Replica = ReturnType<typeof replica>;

function callback(contentType: string, body: string): CallbackRequest {
  return {
    sourceName: 'default',
    method: 'POST',
    peer: '127.0.0.1',
    headers: { 'content-type': [contentType] },
    rawQuery: `id=${jobId}&status=success`,
    declaredLength: body.length,
    isDelimited: true,
    isGone: () => false,
    hasArrived: () => true,
    openBody: () => {
      const chunks: Buffer[] = [];
      for (let at = 0; at < body.length; at += 512) chunks.push(Buffer.from(body.slice(at, at + 512)));
      return Object.assign(Readable.from(chunks), {
        bytes: body.length,
        failure: null,
        sufficiency: () => 1,
        fail: () => {},
        onFailure: () => {},
      });
    },
  };
}

function form(
  ...parts: readonly { readonly name: string; readonly file: string; readonly body: string }[]
): string {
  const text = parts.map(
    ({ name, file, body }) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${file}"\r\n\r\n${body}\r\n`,
  );
  return `${text.join('')}--b--\r\n`;
}
const FORM = 'multipart/form-data; boundary=b';
const NAMED = { name: SECRET, file: `${SECRET}.docx`, body: SECRET };

/** Already here when the others begin. */
const QUARANTINED = ulid();
async function fill(store: MemoryStore): Promise<void> {
  const { archive } = archiveOver(store, 32);
  const staged = archive.begin({
    deliveryId: ulid(),
    jobId,
    status: 'success',
    source: 'default',
    region: null,
    origin: 'callback',
    receivedAt: '2026-01-02T03:04:05.678Z',
    keyPrefix: '',
    context: null,
  });
  const item = staged.open({ identify: () => ({ kind: 'jobinfo', contentType: 'application/json' }) });
  await item.write(Buffer.from(SECRET));
  await item.end();
  await commit(staged);
  const request = quarantinedRequest({ jobId, deliveryId: QUARANTINED });
  await createQuarantine(store).keep(request, Buffer.from(transcript()));
}

const media = (): string => SECRET.repeat((3 * PART) / SECRET.length);

const TRANSCRIPT_FORM: ImportForm = {
  expectedBytes: null,
  fields: () => ({}),
  async read(sink) {
    const stream = Readable.from([Buffer.from(transcript())]);
    const file = { fieldName: 'transcript', fileName: SECRET, contentType: 'application/json' };
    await sink.add({ ...file, stream });
  },
  fail: () => {},
};

const OTHERS: Readonly<Record<string, (at: Replica) => Promise<unknown>>> = {
  'a callback of small parts': ({ receiver }) =>
    receiver.receive(callback(FORM, form({ ...NAMED, name: 'transcript', body: transcript() }, NAMED))),
  'a callback that differs from what is stored': ({ receiver }) =>
    receiver.receive(callback(FORM, form({ ...NAMED, name: 'jobinfo', body: `{"a":"${SECRET}"}` }))),
  'a callback that is streamed': ({ receiver }) =>
    receiver.receive(callback(FORM, form({ ...NAMED, name: 'data', body: media() }, NAMED))),
  'a callback that goes to quarantine': ({ receiver }) =>
    receiver.receive(callback('application/json', `{"${SECRET}"`)),
  'a release': ({ release }) => releaseBody(release, QUARANTINED, AUDIT),
  'an import': async ({ store, archive, ledger, sources }) => {
    const view = createLedgerView({ store, startIndex: indexInThread });
    try {
      const act = { jobId, actor: 'ada', clientIp: null };
      await importArtefacts({ store, archive, ledger, sources, view }, TRANSCRIPT_FORM, act);
    } finally {
      await view.stop();
    }
  },
  'a second erasure': ({ store, ledger }) =>
    eraseJob({ store, ledger, keyPrefixes: [''], sleep: async () => {} }, jobId, AUDIT),
  'a reconcile': ({ recovery: parts }) => reconcile(parts, { since: new Date(Date.now() - 3_600_000) }),
  'a refetch': ({ recovery: parts }) => refetchJob(parts, jobId, AUDIT),
  'a replay': ({ recovery: parts, release, ledger }) =>
    processItem(
      // A refetch notifies nobody.
      { recovery: parts, release, ledger, notify: null as never },
      { ...NEW_REPLAY, selector: { kind: 'refetch' } },
      jobId,
      new AbortController().signal,
    ),
};

interface Played {
  readonly left: readonly string[];
  /** Whether the other made so many calls. */
  readonly began: boolean;
}

/** The erasure begins before call `k` of the other, stops before its own call `j`, and goes on when the other has ended. */
async function play(run: (at: Replica) => Promise<unknown>, k: number, j: number): Promise<Played> {
  const memory: MemoryStore = { ...createMemoryStore(), partSize: PART };
  await fill(memory);
  const clock = { ms: 0 };
  // The replica learns of all erasures before its calls count.
  let calls = Number.NEGATIVE_INFINITY;
  let erasureCalls = 0;
  let erasing: Promise<unknown> | null = null;
  let goOn = (): void => {};
  let stopped = (): void => {};
  const stop = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const erasingStore = interruptedStore(memory, async () => {
    erasureCalls += 1;
    if (erasureCalls !== j) return;
    stopped();
    await mayGoOn;
  });
  const at = replica(
    interruptedStore(memory, async () => {
      calls += 1;
      if (calls !== k) return;
      const sleep = async (ms: number): Promise<void> => {
        clock.ms += ms;
      };
      const ledger = { append: async () => {} };
      erasing = eraseJob({ store: erasingStore, ledger, keyPrefixes: [''], sleep }, jobId, AUDIT);
      await Promise.race([stop, erasing]);
    }),
    clock,
  );
  await at.erasedJobs.has('another');
  calls = 0;
  let failure: unknown = null;
  await run(at).catch((error: unknown) => {
    failure = error;
  });
  goOn();
  await erasing;
  const began = erasing !== null;
  // Alone, the other has to succeed.
  if (!began) expect(failure).toBeNull();
  return { left: began ? leftIn(memory) : [], began };
}

/** What is stored of the job, and everything that holds the secret. */
function leftIn({ objects }: MemoryStore): string[] {
  const found = [...objects].filter(
    ([key, { body, headers }]) =>
      /jobs\/|^quarantine\/|^\.conflicts\//.test(key) ||
      [key, body.toString(), decodeURIComponent(JSON.stringify(headers))].some((text) =>
        text.includes(SECRET),
      ),
  );
  return found.map(([key]) => key);
}

/** Calls before which the erasure stops: with its mark written, announced, in its first look, in its last one, and never. */
const STOPS = [3, 6, 12, 15, Number.POSITIVE_INFINITY];
/** For those that take many calls, or ask the simulated service over HTTP. */
const FEWER_STOPS = [3, 12, Number.POSITIVE_INFINITY];
const LONG = /reconcile|refetch|replay|erasure/;

describe('an erasure leaves nothing', () => {
  it.each(Object.keys(OTHERS))('beside %s, before whichever of its calls it begins', async (name) => {
    const run = OTHERS[name];
    if (run === undefined) throw new Error(name);
    let k = 1;
    for (let began = true; began; k += 1) {
      for (const j of LONG.test(name) ? FEWER_STOPS : STOPS) {
        const played = await play(run, k, j);
        began = played.began;
        expect({ k, j, left: played.left }).toEqual({ k, j, left: [] });
        if (!began) break;
      }
    }
    // An import of one file makes four calls or more.
    expect(k).toBeGreaterThan(4);
  });
});

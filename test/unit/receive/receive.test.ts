import { brotliCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { createArchive } from '../../../src/archive/archive.js';
import { announceErasure, createErasedJobs } from '../../../src/archive/erasure/erased-jobs.js';
import { markErased } from '../../../src/archive/erasure/erasure.js';
import { createErasures } from '../../../src/archive/erasure/erasures.js';
import { createQuarantine } from '../../../src/archive/quarantine/quarantine.js';
import { parseConfig } from '../../../src/config/config.js';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { Problem } from '../../../src/domain/problem.js';
import { createLedger } from '../../../src/ledger/write/ledger.js';
import { BodyAbortedError, type RequestBody } from '../../../src/lib/http/request-body.js';
import { createBufferPool } from '../../../src/lib/memory/buffer-pool.js';
import { ByteBudget } from '../../../src/lib/memory/byte-budget.js';
import { createSources } from '../../../src/receive/access/sources.js';
import { Admission } from '../../../src/receive/admission.js';
import type { CallbackRequest } from '../../../src/receive/callback-request.js';
import { Receiver, type ReceiverObserver } from '../../../src/receive/receive.js';
import { StoreError } from '../../../src/store/object-store.js';
import { type BeforeCall, createMemoryStore } from '../../support/store/memory-store.js';
import { until } from '../../support/until.js';

/*
 * The story of receiving without its transport: what each way of a callback leaves in the store and in memory, and what
 * operators are told.
 */

const PART = 64 * 1024;
const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j' }, metadata: {}, results: [] });

function receiverOver(before?: BeforeCall) {
  const store = { ...createMemoryStore(before), partSize: PART };
  let time = 0;
  const budget = new ByteBudget({ total: 8 * PART, reserve: PART, now: () => time });
  const pass = (seconds: number) => {
    time += seconds * 1000;
    budget.checkWaiters();
  };
  const pool = createBufferPool({ largest: PART, maxBytes: PART });
  const ledger = createLedger({ store, replica: 'test' });
  const admission = new Admission({ maxConcurrent: 10, maxWaiters: 10 }, budget);
  const { sources, egress } = parseConfig({
    sources: {
      default: { maxBytes: 100_000 },
      plain: { maxBytes: 100_000, contents: ['transcript.txt'] },
    },
  });
  const seen: { event: string; line?: LedgerLine; detail?: unknown }[] = [];
  const observer: ReceiverObserver = {
    delivered: (line, phases) => seen.push({ event: 'delivered', line, detail: phases }),
    refused: (line, problem) => seen.push({ event: 'refused', line, detail: problem?.code ?? null }),
    unauthenticated: ({ problem }) => seen.push({ event: 'unauthenticated', detail: problem.code }),
    refusalUnrecorded: (line, error) => seen.push({ event: 'unrecorded', line, detail: String(error) }),
  };
  const receiver = new Receiver({
    sources: createSources(sources, egress.regions, []),
    admission,
    archive: createArchive(store, budget, pool),
    quarantine: createQuarantine(store),
    erasures: createErasures(store, createErasedJobs(store, [() => time])),
    ledger,
    limits: { quarantineBytes: 10_000, lineWithin: 1_000 },
    observer,
  });
  const lines = () =>
    [...store.objects]
      .filter(([key]) => key.startsWith('ledger/'))
      .flatMap(([, { body }]) => body.toString().trim().split('\n'))
      .map((line) => JSON.parse(line) as LedgerLine);
  const erase = async (jobId: string) => {
    const rest = { complete: true, keptUntil: null, finishedAt: null };
    await markErased(store, jobId, { actor: 'ops', reason: null }, rest);
    await announceErasure(store, jobId);
  };
  /** Keys beside the ledger's. */
  const keys = () => [...store.objects.keys()].filter((key) => !key.startsWith('ledger/'));
  return { receiver, store, budget, pass, admission, seen, lines, erase, keys };
}

/** Nothing more comes until the body fails. */
const STALL = Symbol('stall');
/** A promise: nothing more comes before. */
type Chunk = string | Buffer | Error | Promise<void> | typeof STALL;

class Body implements RequestBody {
  bytes = 0;
  failure: Error | null = null;
  #listener = (): void => {};
  readonly #failed = Promise.withResolvers<void>();
  readonly #chunks: readonly Chunk[];

  constructor(chunks: readonly Chunk[]) {
    this.#chunks = chunks;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (const chunk of this.#chunks) {
      await new Promise((resolve) => setImmediate(resolve));
      if (chunk instanceof Error) this.fail(chunk);
      if (chunk === STALL) await this.#failed.promise;
      if (this.failure !== null) throw this.failure;
      if (chunk instanceof Promise) {
        await chunk;
        continue;
      }
      this.bytes += (chunk as string).length;
      yield Buffer.from(chunk as string);
    }
  }

  sufficiency(): number {
    return 1;
  }

  fail(error: Error): void {
    this.failure ??= error;
    this.#failed.resolve();
    this.#listener();
  }

  onFailure(listener: () => void): void {
    this.#listener = listener;
  }
}

interface Callback {
  readonly chunks: readonly Chunk[];
  readonly more?: Partial<CallbackRequest>;
}

function requestOf({ chunks, more = {} }: Callback): CallbackRequest & { readonly opened: Body[] } {
  const opened: Body[] = [];
  const size = chunks.reduce((sum, chunk) => sum + (typeof chunk === 'string' ? chunk.length : 1), 0);
  return {
    sourceName: 'default',
    method: 'POST',
    peer: '127.0.0.1',
    headers: { 'content-type': ['application/json'] },
    rawQuery: 'id=job1&status=success',
    declaredLength: size,
    isDelimited: true,
    isGone: () => false,
    hasArrived: () => true,
    openBody: () => {
      const body = new Body(chunks);
      opened.push(body);
      return body;
    },
    ...more,
    opened,
  };
}

const refusalOf = (receiving: Promise<unknown>) =>
  receiving.then(
    () => 'accepted',
    (error: unknown) => error,
  );

const settle = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('receiving a callback', () => {
  it('stores its items, writes its line, reports once, and returns all memory', async () => {
    const used: number[] = [];
    const at = receiverOver((_, key) => {
      if (key.startsWith('jobs/')) used.push(at.budget.used);
    });
    const answer = await at.receiver.receive(requestOf({ chunks: [TRANSCRIPT] }));
    expect(answer).toMatchObject({ jobId: 'job1', status: 'success', outcome: 'stored' });
    // The raw copy is returned before the store is waited for.
    expect(used).toEqual([TRANSCRIPT.length]);
    expect(at.keys()).toEqual(['jobs/job1/transcript.json']);
    expect(at.lines()).toMatchObject([
      {
        outcome: 'stored',
        reason: null,
        bytes: TRANSCRIPT.length,
        jobId: 'job1',
        shape: { framing: 'sized' },
      },
    ]);
    expect(at.seen.map(({ event }) => event)).toEqual(['delivered']);
    const phases = Object.values(at.seen[0]?.detail as object);
    expect(phases).toHaveLength(3);
    for (const phase of phases) expect(phase).toBeLessThan(60_000);
    expect(at.lines()[0]?.durationMs).toBeLessThan(60_000);
    expect([at.budget.used, at.admission.active]).toEqual([0, 0]);
  });

  it('acknowledges nothing before its line is durable', async () => {
    const { promise: writing, resolve: reached } = Promise.withResolvers<() => void>();
    const at = receiverOver((operation, key) =>
      operation === 'create' && key.startsWith('ledger/')
        ? new Promise((resolve) => reached(resolve as () => void))
        : undefined,
    );
    let answered = false;
    const receiving = at.receiver.receive(requestOf({ chunks: [TRANSCRIPT] })).then(() => {
      answered = true;
    });
    const write = await writing;
    await settle();
    expect([answered, at.keys().length, at.admission.active]).toEqual([false, 1, 1]);
    write();
    await receiving;
    expect(answered).toBe(true);
  });

  it('takes a text for what its source says, unless the query says it', async () => {
    const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
    const text = { sourceName: 'plain', headers: { 'content-type': ['text/plain'] } };
    const at = receiverOver();
    await at.receiver.receive(requestOf({ chunks: [SRT], more: text }));
    expect(at.keys()).toEqual(['jobs/job1/transcript.txt']);
    const rawQuery = 'id=job2&status=success&contents=transcript.srt';
    await at.receiver.receive(requestOf({ chunks: [SRT], more: { ...text, rawQuery } }));
    expect(at.keys()).toContain('jobs/job2/transcript.srt');
  });

  it.each([
    [null, {}, 'none'],
    [null, { 'transfer-encoding': ['chunked'] }, 'chunked'],
    [null, { 'transfer-encoding': ['Chunked'] }, 'chunked'],
    [0, {}, 'none'],
  ])('records how the body was framed: length %s, headers %j', async (declaredLength, headers, framing) => {
    const at = receiverOver();
    const more = { declaredLength, headers: { ...headers, 'content-type': ['application/json'] } };
    await at.receiver.receive(requestOf({ chunks: [], more }));
    expect(at.lines()).toMatchObject([{ shape: { framing } }]);
    expect(at.lines()[0]?.shape).not.toHaveProperty('contentEncoding');
    expect(at.lines()[0]?.shape).not.toHaveProperty('parts');
  });

  it('keeps a body that cannot be decoded, byte for byte, and returns all memory', async () => {
    const at = receiverOver();
    const answer = await at.receiver.receive(requestOf({ chunks: ['{"broken', '":'] }));
    const job = { jobId: 'job1', status: 'success' };
    expect(answer).toEqual({ deliveryId: answer.deliveryId, ...job, outcome: 'quarantined', items: [] });
    const folder = `quarantine/${answer.deliveryId}/`;
    expect(at.keys().filter((key) => !key.startsWith('.'))).toEqual([
      `${folder}body`,
      `${folder}request.json`,
    ]);
    expect(at.store.objects.get(`${folder}body`)?.body.toString()).toBe('{"broken":');
    expect(at.seen).toMatchObject([{ event: 'delivered', line: { outcome: 'quarantined', bytes: 10 } }]);
    expect([at.budget.used, at.admission.active]).toEqual([0, 0]);
  });

  it('refuses a body that cannot be decoded and is too large to keep', async () => {
    const at = receiverOver();
    const receiving = at.receiver.receive(requestOf({ chunks: ['{"', 'x'.repeat(10_001)] }));
    await expect(receiving).rejects.toMatchObject({ code: 'body-malformed' });
    expect(at.keys()).toEqual([]);
    expect(at.lines()).toMatchObject([{ outcome: 'refused', reason: 'body-malformed' }]);
    expect([at.budget.used, at.admission.active]).toEqual([0, 0]);
  });
});

describe('a body that cannot be decoded, of a job that was erased', () => {
  const BROKEN = { chunks: ['{"broken":'] };
  const NOTED = [expect.objectContaining({ outcome: 'noted', reason: 'erased', bytes: 10, items: [] })];

  it('before, is read and never written', async () => {
    const at = receiverOver();
    await at.erase('job1');
    expect(await at.receiver.receive(requestOf(BROKEN))).toMatchObject({ outcome: 'noted', items: [] });
    expect(at.store.calls.filter(({ key }) => /^\.?quarantine/.test(key))).toEqual([]);
    expect(at.lines()).toEqual(NOTED);
  });

  it('while it was being kept, is noted, and nothing of it remains', async () => {
    const at = receiverOver(async (operation, key) => {
      if (operation !== 'create' || !key.endsWith('/request.json')) return;
      await at.erase('job1');
      at.pass(3);
    });
    expect(await at.receiver.receive(requestOf(BROKEN))).toMatchObject({ outcome: 'noted', items: [] });
    expect(at.keys().filter((key) => key.includes('quarantine'))).toEqual([]);
    expect(at.lines()).toEqual(NOTED);
  });

  it('while only a part of it could be kept, is sent again, and nothing of it remains', async () => {
    const at = receiverOver(async (operation, key) => {
      if (operation !== 'create' || !key.endsWith('/request.json')) return;
      await at.erase('job1');
      at.pass(3);
      throw new StoreError(operation, 'EIO');
    });
    await expect(at.receiver.receive(requestOf(BROKEN))).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(at.keys().filter((key) => key.includes('quarantine'))).toEqual([]);
  });
});

describe('a callback that is refused', () => {
  it.each([
    ['source-unknown', { sourceName: 'unknown' }],
    ['address-refused', { peer: '192.0.2.1' }],
  ])('before it authenticates leaves nothing but a note for operators: %s', async (code, more) => {
    const at = receiverOver();
    const request = requestOf({ chunks: [TRANSCRIPT], more });
    await expect(at.receiver.receive(request)).rejects.toMatchObject({ code });
    expect([request.opened.length, at.store.objects.size, at.admission.active]).toEqual([0, 0, 0]);
    expect(at.seen).toEqual([{ event: 'unauthenticated', detail: code }]);
  });

  it.each([
    ['an unreadable query', { rawQuery: 'status=success' }, 'query-invalid'],
    ['a length over the limit', { declaredLength: 100_001 }, 'body-too-large'],
    ['no length at all', { isDelimited: false, declaredLength: null }, 'request-malformed'],
  ])('for %s has a line, and none of its body is read', async (_, more, code) => {
    const at = receiverOver();
    const request = requestOf({ chunks: [TRANSCRIPT], more });
    await expect(at.receiver.receive(request)).rejects.toMatchObject({ code });
    expect([request.opened.length, at.keys().length, at.admission.active]).toEqual([0, 0, 0]);
    expect(at.lines()).toMatchObject([{ outcome: 'refused', reason: code, bytes: 0, items: [] }]);
    expect(at.seen).toMatchObject([{ event: 'refused', detail: code }]);
  });

  it('is not refused for a length of just the limit', async () => {
    const at = receiverOver();
    const content = JSON.stringify('x'.repeat(99_998));
    const query = 'id=job1&status=success&contents=data';
    const answer = await at.receiver.receive(requestOf({ chunks: [content], more: { rawQuery: query } }));
    expect(answer.outcome).toBe('stored');
    expect(at.lines()).toMatchObject([{ bytes: 100_000 }]);
  });

  it('because its sender disconnected has a line without a problem, and stores nothing', async () => {
    const at = receiverOver();
    const gone = new BodyAbortedError();
    await expect(at.receiver.receive(requestOf({ chunks: ['{"a":', gone] }))).rejects.toBe(gone);
    expect(at.keys()).toEqual([]);
    expect(at.lines()).toMatchObject([{ outcome: 'refused', reason: 'body-incomplete' }]);
    expect(at.seen).toMatchObject([{ event: 'refused', detail: null }]);
    expect([at.budget.used, at.admission.active]).toEqual([0, 0]);
  });

  it('because the store is full says so in its line, however little the canary needs', async () => {
    const at = receiverOver((operation, key) => {
      if (key.startsWith('jobs/')) throw new StoreError(operation, 'ENOSPC', { condition: 'full' });
    });
    const receiving = at.receiver.receive(requestOf({ chunks: [TRANSCRIPT] }));
    await expect(receiving).rejects.toMatchObject({ code: 'store-full', status: 503 });
    await until(() => at.lines().length > 0);
    expect(at.lines()).toMatchObject([{ outcome: 'refused', reason: 'store-full' }]);
  });
});

describe('a callback while memory is short', () => {
  const OVERLOADED = { code: 'overloaded', status: 503 };

  /** Others, whose bodies are complete, hold all memory that is free, the reserve included. */
  async function holdTheRest({ budget }: ReturnType<typeof receiverOver>): Promise<void> {
    const others = budget.lease();
    others.fillRate.complete();
    while (others.tryTake(1024));
    const last = budget.lease();
    last.fillRate.complete();
    await last.take(PART);
  }

  function begin(at: ReturnType<typeof receiverOver>, ...chunks: Chunk[]) {
    const request = requestOf({ chunks, more: { declaredLength: null } });
    return { receiving: refusalOf(at.receiver.receive(request)), opened: request.opened };
  }

  /** A callback that has sent this much of its body, which is kept twice: as its item, and raw for quarantine. */
  const SENT = 9_000;
  async function stalled(at: ReturnType<typeof receiverOver>, rest: Chunk = STALL) {
    const begun = begin(at, `"${'x'.repeat(SENT - 1)}`, rest);
    await until(() => at.budget.used === 2 * SENT);
    return begun;
  }

  it('gives its raw copy back as soon as another waits, and is sent again when it cannot be decoded', async () => {
    const at = receiverOver();
    const { promise: end, resolve: endBody } = Promise.withResolvers<void>();
    const { receiving } = await stalled(at, end);
    await holdTheRest(at);
    const { used } = at.budget;
    const waiting = at.budget.lease().take(PART);
    await settle();
    expect([at.budget.used, at.budget.waiters]).toEqual([used - SENT, 1]);
    endBody();
    expect(await receiving).toMatchObject(OVERLOADED);
    waiting.catch(() => undefined);
  });

  it('is refused when it stalls while others wait, and gives its memory back', async () => {
    const at = receiverOver();
    const { receiving } = await stalled(at);
    await holdTheRest(at);
    at.pass(28);
    const waiting = at.budget.lease().take(60_000);
    expect(at.budget.waiters).toBe(1);
    at.pass(3);
    expect(await receiving).toMatchObject(OVERLOADED);
    await waiting;
  });

  it('is refused where a decompressor of its encoding would need more than there is', async () => {
    const at = receiverOver();
    const headers = { 'content-type': ['application/json'], 'content-encoding': ['br'] };
    const request = requestOf({ chunks: [brotliCompressSync(TRANSCRIPT)], more: { headers } });
    expect(await refusalOf(at.receiver.receive(request))).toMatchObject(OVERLOADED);
    expect(at.budget.used).toBe(0);
  });

  it('is refused when no memory becomes free for its first byte within ten seconds', async () => {
    const at = receiverOver();
    await holdTheRest(at);
    const { receiving } = begin(at, TRANSCRIPT);
    await until(() => at.budget.waiters === 1);
    at.pass(10);
    expect(await receiving).toMatchObject(OVERLOADED);
    expect(at.budget.waiters).toBe(0);
  });

  it('leaves the queue as soon as its sender has gone, and gives back what it holds', async () => {
    const at = receiverOver();
    const holder = await stalled(at);
    await holdTheRest(at);
    const { used } = at.budget;
    const waiter = begin(at, `"${'x'.repeat(60_000)}`, STALL);
    await until(() => at.budget.waiters === 1);
    for (const { opened, receiving } of [waiter, holder]) {
      const gone = new BodyAbortedError();
      opened[0]?.fail(gone);
      expect(await receiving).toBe(gone);
    }
    expect([at.budget.used, at.budget.waiters]).toEqual([used - 2 * SENT, 0]);
  });
});

describe('a callback whose body is still arriving when the replica shuts down', () => {
  it.each([
    ['is refused', 'job2'],
    ['is refused, also of an erased job', 'job1'],
  ])('%s', async (_, erased) => {
    const at = receiverOver();
    await at.erase(erased);
    const request = requestOf({ chunks: ['{', STALL] });
    const receiving = refusalOf(at.receiver.receive(request));
    await until(() => request.opened[0]?.bytes === 1);
    at.admission.failIncompleteBodies();
    // The ledger is closed as soon as no delivery is in flight.
    await at.admission.whenEmpty();
    expect(at.lines()).toMatchObject([{ jobId: 'job1', reason: erased === 'job1' ? 'erased' : 'draining' }]);
    expect(await receiving).toMatchObject({ code: 'draining', status: 503 });
  });
});

describe('the line of a refusal', () => {
  const NOT_ASKED = (_error?: Error): void => {};

  /** A ledger that does not write until it may. */
  function stuckLedger(more: BeforeCall = () => undefined) {
    let write = NOT_ASKED;
    const at = receiverOver((operation, key) => {
      if (operation !== 'create' || !key.startsWith('ledger/')) return more(operation, key);
      return new Promise((resolve, reject) => {
        write = (error) => (error ? reject(error) : resolve());
      });
    });
    return {
      ...at,
      asked: () => until(() => write !== NOT_ASKED),
      write: (error?: Error) => write(error),
    };
  }

  const outcomeOf = (receiving: Promise<unknown>) => {
    const state = { now: 'waiting' };
    receiving.catch((error: unknown) => {
      state.now = error instanceof Problem ? error.code : String(error);
    });
    return state;
  };

  it('is waited for when the sender is at fault', async () => {
    const at = stuckLedger();
    const more = { declaredLength: 100_001 };
    const state = outcomeOf(at.receiver.receive(requestOf({ chunks: [TRANSCRIPT], more })));
    await at.asked();
    await settle();
    expect(state.now).toBe('waiting');
    at.write();
    await until(() => state.now !== 'waiting');
    expect(state.now).toBe('body-too-large');
  });

  it('does not make an erased job fail, and is written as a refusal when the store does not say', async () => {
    let isReadable = true;
    const at = receiverOver((operation, key) => {
      if (!isReadable && key.startsWith('.erasures/')) throw new StoreError(operation, 'EIO');
    });
    await at.erase('job1');
    const tooLarge = requestOf({ chunks: [TRANSCRIPT], more: { declaredLength: 100_001 } });
    const cutShort = requestOf({ chunks: ['{', new BodyAbortedError()] });
    for (const request of [tooLarge, cutShort]) {
      expect(await refusalOf(at.receiver.receive(request))).not.toBe('accepted');
    }
    const ofOther = { declaredLength: 100_001, rawQuery: 'id=job2&status=success' };
    await refusalOf(at.receiver.receive(requestOf({ chunks: [TRANSCRIPT], more: ofOther })));
    const recorded = () => at.lines().map(({ jobId, outcome, reason }) => [jobId, outcome, reason]);
    expect(recorded()).toEqual([
      ['job1', 'noted', 'erased'],
      ['job1', 'noted', 'erased'],
      ['job2', 'refused', 'body-too-large'],
    ]);
    expect(at.seen.map(({ event, detail }) => [event, detail])).toEqual([
      ['refused', 'body-too-large'],
      ['refused', null],
      ['refused', 'body-too-large'],
    ]);
    isReadable = false;
    await refusalOf(at.receiver.receive(tooLarge));
    expect(recorded().at(-1)).toEqual(['job1', 'refused', 'body-too-large']);
  });

  it('is not awaited when the delivery is refused as 503', async () => {
    const at = stuckLedger((operation, key) => {
      if (key.startsWith('jobs/')) throw new StoreError(operation, 'EIO');
    });
    const state = outcomeOf(at.receiver.receive(requestOf({ chunks: [TRANSCRIPT] })));
    await at.asked();
    await settle();
    expect(state.now).toBe('store-unavailable');
    at.write();
  });

  it('does not change the refusal when it cannot be written, and operators learn of it', async () => {
    const at = stuckLedger();
    const more = { declaredLength: 100_001 };
    const state = outcomeOf(at.receiver.receive(requestOf({ chunks: [TRANSCRIPT], more })));
    await at.asked();
    at.write(new StoreError('create', 'EIO'));
    await until(() => state.now !== 'waiting');
    expect(state.now).toBe('body-too-large');
    expect(at.seen.map(({ event }) => event)).toEqual(['refused', 'unrecorded']);
  });
});

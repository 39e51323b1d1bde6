import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Problem } from '../../../../src/domain/problem.js';
import { readBody } from '../../../../src/lib/http/read-body.js';
import { BodyAbortedError, type RequestBody } from '../../../../src/lib/http/request-body.js';

const KIB = 1024;

/** Limits that no test reaches unless it names them. */
const GENEROUS = {
  maxBytes: 1024 * KIB,
  idleTimeout: 1e9,
  minBytesPerSecond: 0,
  minRateGrace: 1e9,
  totalTimeout: 1e9,
  declaredLength: null,
};

const START = 5000;
let time: number;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  time = START;
});

afterEach(() => {
  jest.useRealTimers();
});

/** A request without a connection: tests push the body as the parser would. */
function newRequest() {
  const request = new IncomingMessage(new Socket());
  return Object.assign(request, {
    finish() {
      request.complete = true;
      request.push(null);
    },
  });
}

function read(
  limits: Partial<Omit<typeof GENEROUS, 'declaredLength'> & { declaredLength: number | null }> = {},
  onStart?: () => void,
) {
  const request = newRequest();
  const all = { ...GENEROUS, ...limits };
  const body = readBody(request, all, all, onStart, () => time);
  return { request, body, pieces: body[Symbol.asyncIterator]() };
}

async function send(request: IncomingMessage, text: string): Promise<void> {
  request.push(Buffer.from(text));
  await turn();
}

async function sendNext(
  { request, pieces }: Pick<ReturnType<typeof read>, 'request' | 'pieces'>,
  text: string,
) {
  const next = pieces.next();
  await send(request, text);
  return String((await next).value);
}

/** Time passes, and the reader looks at its bodies. */
async function pass(ms: number): Promise<void> {
  time += ms;
  jest.advanceTimersByTime(250);
  await turn();
}

const problem = (code: string, detail: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(detail) });

/** The error that a pending read ends with; the marker as long as it has not ended. */
async function fateOf(reading: Promise<unknown>): Promise<unknown> {
  return Promise.race([reading.catch((error: unknown) => error), turn('still waiting')]);
}

describe('the size of a body', () => {
  it.each([null, 10])('may be the limit of its source, declared as %s', async (declaredLength) => {
    const { request, body, pieces } = read({ maxBytes: 10, declaredLength });
    request.push(Buffer.from('0123456789'));
    request.finish();
    expect(await pieces.next()).toEqual({ value: Buffer.from('0123456789'), done: false });
    expect(await pieces.next()).toEqual({ value: undefined, done: true });
    expect(body).toMatchObject({ bytes: 10, failure: null });
  });

  it.each([null, 10])('must not exceed the limit by a byte, declared as %s', async (declaredLength) => {
    const { request, body, pieces } = read({ maxBytes: 10, declaredLength });
    const reading = pieces.next();
    request.push(Buffer.from('0123456789A'));
    await expect(reading).rejects.toEqual(
      problem('body-too-large', /^This source accepts up to 10 bytes\.$/),
    );
    await expect(pieces.next()).rejects.toBe(body.failure);
  });
});

describe('a body', () => {
  it.each([null, 6, 64 * KIB + 1])('is delivered as it comes, declared as %s', async (declaredLength) => {
    const at = read({ declaredLength });
    expect(await sendNext(at, 'one')).toBe('one');
    expect(await sendNext(at, 'two')).toBe('two');
    at.request.finish();
    expect(await at.pieces.next()).toEqual({ value: undefined, done: true });
  });

  it('is taken from the connection one piece at a time, so that the rest stays outside memory', async () => {
    const { request, body, pieces } = read();
    for (const text of ['one', 'two', 'three']) request.push(Buffer.from(text));
    await turn();
    expect(body.bytes).toBe(3);
    expect(await pieces.next()).toEqual({ value: Buffer.from('one'), done: false });
    await turn();
    expect(body.bytes).toBe(3);
    expect(String((await pieces.next()).value)).toBe('two');
    await turn();
    expect(body.bytes).toBe(6);
  });

  it('may be empty', async () => {
    const { request, pieces } = read({ declaredLength: 0 });
    const reading = pieces.next();
    request.finish();
    expect(await reading).toEqual({ value: undefined, done: true });
  });
});

describe('a sender that pauses', () => {
  it('has the idle time-out for every piece', async () => {
    const { request, pieces } = read({ idleTimeout: 300 });
    void pieces.next();
    await pass(300);
    await send(request, 'one');
    const second = pieces.next();
    await pass(300);
    expect(await fateOf(second)).toBe('still waiting');
    await pass(1);
    expect(await fateOf(second)).toEqual(problem('body-too-slow', /^No byte of the body came for 0\.3 s\.$/));
  });

  it('is not judged while the receiver itself takes its time', async () => {
    const at = read({ idleTimeout: 300, minBytesPerSecond: 1000, minRateGrace: 0 });
    expect(await sendNext(at, 'one')).toBe('one');
    await pass(60_000);
    expect(at.body.failure).toBeNull();
    expect(await sendNext(at, 'two')).toBe('two');
  });
});

describe('a sender that is slow', () => {
  it('has to reach the minimum rate once the grace is over', async () => {
    const at = read({ minBytesPerSecond: 10, minRateGrace: 1000 });
    const reading = at.pieces.next();
    await pass(1000);
    expect(await fateOf(reading)).toBe('still waiting');
    await pass(1);
    expect(await fateOf(reading)).toEqual(
      problem('body-too-slow', /^The body came at less than 10 bytes per second\.$/),
    );
  });

  it('may have exactly the minimum rate', async () => {
    const { request, pieces } = read({ minBytesPerSecond: 10, minRateGrace: 1000 });
    let reading = pieces.next();
    for (let second = 0; second < 5; second += 1) {
      await send(request, 'ten bytes!');
      await reading;
      reading = pieces.next();
      await pass(1000);
    }
    expect(await fateOf(reading)).toBe('still waiting');
    await pass(100);
    expect(await fateOf(reading)).toEqual(problem('body-too-slow', /10 bytes per second/));
  });

  it('is judged by all of its waits, and by none of the receiver', async () => {
    const at = read({ minBytesPerSecond: 1, minRateGrace: 1000 });
    const first = at.pieces.next();
    await pass(900);
    await send(at.request, 'x');
    await first;
    await pass(60_000);
    const second = at.pieces.next();
    await pass(100);
    expect(await fateOf(second)).toBe('still waiting');
    await pass(1);
    expect(await fateOf(second)).toEqual(problem('body-too-slow', /1 bytes per second/));
  });

  it('has a limited time for the whole body, which includes the waits of the receiver', async () => {
    const { request, body, pieces } = read({ totalTimeout: 2000 });
    const first = pieces.next();
    await send(request, 'one');
    await first;
    await pass(2000);
    expect(body.failure).toBeNull();
    await pass(1);
    expect(body.failure).toEqual(problem('body-too-slow', /^The body took longer than 2 s\.$/));
    await expect(pieces.next()).rejects.toBe(body.failure);
  });

  it('has that time from when its body is first asked for', async () => {
    const body = readBody(newRequest(), { ...GENEROUS, totalTimeout: 2000 }, GENEROUS, undefined, () => time);
    await pass(60_000);
    expect(body.failure).toBeNull();
    body[Symbol.asyncIterator]();
    await pass(2000);
    expect(body.failure).toBeNull();
  });

  it('is looked at four times a second', async () => {
    const { body } = read({ totalTimeout: 1 });
    time += 2;
    jest.advanceTimersByTime(249);
    expect(body.failure).toBeNull();
    jest.advanceTimersByTime(1);
    expect(body.failure).not.toBeNull();
  });

  it.each<[string, (request: ReturnType<typeof newRequest>, body: RequestBody) => void]>([
    ['came whole', (request) => request.finish()],
    ['failed', (_request, body) => body.fail(new BodyAbortedError())],
  ])('is no longer looked at once it %s', async (_, end) => {
    const { request, body, pieces } = read();
    const reading = pieces.next().catch(() => undefined);
    expect(jest.getTimerCount()).toBe(1);
    end(request, body);
    await reading;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not keep the process running', () => {
    jest.useRealTimers();
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const { body } = read();
    expect(timers()).toBe(before);
    body.fail(new BodyAbortedError());
  });
});

describe('a body that ends before it is complete', () => {
  const cause = new Error('parse error');

  it.each<[string, (request: IncomingMessage) => void, unknown]>([
    ['its connection closed', (request) => request.emit('close'), undefined],
    ['its connection failed', (request) => request.destroy(cause), cause],
  ])('rejects the read in flight and later ones: %s', async (_, end, why) => {
    const { request, body, pieces } = read();
    const reading = pieces.next();
    end(request);
    const error = await fateOf(reading);
    expect(error).toBeInstanceOf(BodyAbortedError);
    expect((error as BodyAbortedError).cause).toBe(why);
    expect(body.failure).toBe(error);
    await expect(pieces.next()).rejects.toBe(error);
  });

  it('keeps its first failure, and tells it once', async () => {
    const { request, body } = read();
    const told = jest.fn();
    body.onFailure(told);
    const first = new Problem('draining', 'first');
    body.fail(first);
    body.fail(new Problem('draining', 'second'));
    request.destroy();
    await turn();
    expect(body.failure).toBe(first);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it('tells of a failure that came before anybody listened', () => {
    const { body } = read();
    const told = jest.fn();
    body.fail(new Problem('draining', 'now'));
    body.onFailure(told);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it('says nothing as long as it has not failed', async () => {
    const at = read();
    const told = jest.fn();
    at.body.onFailure(told);
    await sendNext(at, 'one');
    at.request.finish();
    await at.pieces.next();
    at.body.fail(new Problem('draining', 'too late'));
    expect(at.body.failure).toBeNull();
    expect(told).not.toHaveBeenCalled();
  });

  it.each([null, 100])('delivers none of what was left of it, declared as %s', async (declaredLength) => {
    const { request, body, pieces } = read({ declaredLength });
    request.push(Buffer.from('one'));
    await turn();
    body.fail(new Problem('draining', 'now'));
    await expect(pieces.next()).rejects.toBe(body.failure);
  });

  it('stops reading, so that its sender is slowed', async () => {
    const { request, body, pieces } = read();
    const reading = pieces.next();
    body.fail(new Problem('draining', 'now'));
    await expect(reading).rejects.toBe(body.failure);
    expect(request.isPaused()).toBe(true);
    for (const event of ['data', 'end', 'close']) expect(request.listenerCount(event)).toBe(0);
  });

  it('survives an error of its connection afterwards', async () => {
    const { request, body } = read();
    body.fail(new Problem('draining', 'now'));
    request.destroy(cause);
    await turn();
    expect(body.failure).toMatchObject({ code: 'draining' });
  });

  it.each([
    ['incomplete', () => {}],
    ['although all of it had arrived', (request: ReturnType<typeof newRequest>) => request.finish()],
  ])('is aborted at once when its connection had closed before it was asked for, %s', async (_, arrive) => {
    const request = newRequest();
    request.push(Buffer.from('some'));
    arrive(request);
    request.destroy();
    await turn();
    const onStart = jest.fn();
    const body = readBody(request, GENEROUS, GENEROUS, onStart);
    expect(await fateOf(body[Symbol.asyncIterator]().next())).toBeInstanceOf(BodyAbortedError);
    expect(onStart).not.toHaveBeenCalled();
  });
});

describe('a reader of a body', () => {
  it('asks its sender for the body when it begins, and once', () => {
    const onStart = jest.fn();
    const body: RequestBody = readBody(newRequest(), GENEROUS, GENEROUS, onStart);
    expect(onStart).not.toHaveBeenCalled();
    body[Symbol.asyncIterator]();
    body[Symbol.asyncIterator]();
    expect(onStart).toHaveBeenCalledTimes(1);
  });

  it('may go on with another loop where the first one left off', async () => {
    const at = read();
    expect(await sendNext(at, 'one')).toBe('one');
    const pieces = at.body[Symbol.asyncIterator]();
    expect(await sendNext({ ...at, pieces }, 'two')).toBe('two');
    expect(at.body.bytes).toBe(6);
  });

  it('leaves nothing behind when it stops early: no reading, no time-out, no listener', async () => {
    const { request, body, pieces } = read({ totalTimeout: 1000 });
    await send(request, 'one');
    expect(await pieces.return?.()).toEqual({ value: undefined, done: true });
    expect(request.isPaused()).toBe(true);
    for (const event of ['data', 'end', 'close']) expect(request.listenerCount(event)).toBe(0);
    await pass(60_000);
    expect(body.failure).toBeNull();
  });
});

describe("the sender's pace", () => {
  it('is sufficient when the body, or 1 MiB of it, arrives within ten seconds', async () => {
    const sending = read({ declaredLength: 300 * KIB });
    for (let second = 0; second < 4; second += 1) {
      const next = sending.pieces.next();
      await pass(1_000);
      sending.request.push(Buffer.alloc(second < 2 ? 31 * KIB : 25 * KIB));
      await next;
      if (second === 1) expect(sending.body.sufficiency()).toBeGreaterThan(1);
    }
    expect(sending.body.sufficiency()).toBeLessThan(1);
  });

  it('is that of the last bytes, not of the fast ones before', async () => {
    const sending = read({ maxBytes: 2 ** 30, declaredLength: 64 * 1024 * KIB });
    for (let mebibyte = 0; mebibyte < 20; mebibyte += 1) {
      await sendNext(sending, 'x'.repeat(1024 * KIB));
    }
    for (let second = 0; second < 3; second += 1) {
      const next = sending.pieces.next();
      await pass(1_000);
      await send(sending.request, 'x'.repeat(2 * KIB));
      await next;
    }
    expect(sending.body.sufficiency()).toBeLessThan(0.1);
  });

  it('is none after three seconds of silence, however little is missing', async () => {
    const sending = read({ declaredLength: 2_000 });
    await sendNext(sending, 'x'.repeat(1_999));
    const next = sending.pieces.next();
    await pass(2_900);
    expect(sending.body.sufficiency()).toBeGreaterThan(1);
    await pass(100);
    expect(sending.body.sufficiency()).toBe(0);
    await send(sending.request, 'x');
    await next;
    sending.request.finish();
    expect((await sending.pieces.next()).done).toBe(true);
    expect(sending.body.sufficiency()).toBe(Number.POSITIVE_INFINITY);
  });

  it('does not suffer from waits of the receiver, before the first read and after each', async () => {
    const sending = read({ declaredLength: 300 * KIB });
    await pass(60_000);
    expect(sending.body.sufficiency()).toBe(Number.POSITIVE_INFINITY);
    await sendNext(sending, 'x'.repeat(100 * KIB));
    await pass(60_000);
    expect(sending.body.sufficiency()).toBe(Number.POSITIVE_INFINITY);
  });
});

import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createChangeGate } from '../../../../../src/operations/admin/access/gates.js';

/** A response is a stream that finishes or is destroyed; nothing else of it is looked at. */
const response = () => new PassThrough().resume() as PassThrough & ServerResponse;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function settling(promise: Promise<unknown>) {
  const seen = { settled: false };
  void promise.then(() => {
    seen.settled = true;
  });
  return seen;
}

describe('changes in flight', () => {
  it('end when both the change and its response have ended, in either order', async () => {
    const gate = createChangeGate();
    const answered = response();
    const left = response();
    const { promise: slow, resolve: end } = Promise.withResolvers<string>();
    expect(await gate.pass(answered, async () => 'at once')).toBe('at once');
    const abandoned = gate.pass(left, () => slow);
    const empty = settling(gate.whenEmpty());
    left.destroy();
    await turn();
    end('at last');
    expect(await abandoned).toBe('at last');
    await turn();
    expect(empty.settled).toBe(false);
    answered.end();
    await turn();
    expect(empty.settled).toBe(true);
  });

  it('that fail count until their response has ended', async () => {
    const gate = createChangeGate();
    const failed = response();
    await expect(gate.pass(failed, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    failed.end();
    await gate.whenEmpty();
  });

  it('are not started once the gate is closed', async () => {
    const gate = createChangeGate();
    gate.close();
    let begun = false;
    const late = gate.pass(response(), async () => {
      begun = true;
    });
    await expect(late).rejects.toMatchObject({ code: 'draining', status: 503 });
    expect(begun).toBe(false);
    await gate.whenEmpty();
  });
});

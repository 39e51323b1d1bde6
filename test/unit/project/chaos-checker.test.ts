import { describe, expect, it } from '@jest/globals';
import { type Account, createAccount } from '../../chaos/account.js';
import { type Callback, largeTranscript } from '../../chaos/callbacks.js';
import { check } from '../../chaos/checker.js';
import type { StoreView } from '../../chaos/store-view.js';
import { createRandom } from '../../support/random.js';

/* The checker of the chaos run has to see what it is there for. */

const callback = (jobId: string): Callback => largeTranscript(createRandom(1, jobId), jobId, 400);
const ONE = callback('one');
const TWO = callback('two');

/** Both were sent whole, and neither was acknowledged. */
function refusedAccount(): Account {
  const account = createAccount();
  for (const each of [ONE, TWO]) {
    account.sent.set(each.jobId, [each]);
    account.whole.add(each);
  }
  return account;
}

function viewOf(objects: Readonly<Record<string, Buffer>>): StoreView {
  return {
    keys: async () => Object.keys(objects),
    read: async (key) => objects[key] ?? Buffer.alloc(0),
    write: async () => {},
    leftovers: async () => [],
    wipe: async () => {},
  };
}

const foreign = async (objects: Readonly<Record<string, Buffer>>): Promise<string[]> =>
  (await check(refusedAccount(), new Set(['simulated']), viewOf(objects))).foreign;

describe('the checker of the chaos run', () => {
  it('accepts bytes that were sent for a key, acknowledged or not, and jobs of other senders', async () => {
    const objects = { 'jobs/one/transcript.json': ONE.body, 'jobs/simulated/transcript.json': TWO.body };
    expect(await foreign(objects)).toEqual([]);
    const conflict = { [`jobs/one/conflicts/transcript.json.${'0'.repeat(64)}`]: ONE.body };
    expect(await foreign(conflict)).toEqual([]);
  });

  it.each([
    ['the bytes of another job', 'jobs/one/transcript.json', TWO.body, 'the bytes of two/transcript.json'],
    ['unsent bytes', 'jobs/one/transcript.json', Buffer.from('half'), 'unsent bytes'],
    ['bytes of another item of the job', 'jobs/one/data', ONE.body, 'the bytes of one/transcript.json'],
    ['an unsent job', 'jobs/three/data', Buffer.from('x'), 'unsent bytes'],
    ['a body in quarantine that was good', 'quarantine/d1/body', ONE.body, 'no body that was sent'],
  ])('finds %s', async (_what, key, body, said) => {
    expect(await foreign({ [key]: body })).toEqual([expect.stringContaining(`${key} holds ${said}`)]);
  });
});

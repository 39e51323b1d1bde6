import { describe, expect, it } from '@jest/globals';
import { type ProbeReport, probeStore } from '../../../../src/store/probe/probe-store.js';
import {
  proveRepeatedly,
  type StoreProofOptions,
  WeakStoreError,
} from '../../../../src/store/probe/store-proof.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const FIT: ProbeReport = {
  writable: true,
  unfit: null,
  condition: null,
  conditionalPut: 'holds',
  conditionalComplete: 'holds',
  trustworthy: true,
  warnings: [],
  findings: ['All is well.'],
};
const AWAY: ProbeReport = {
  ...FIT,
  writable: false,
  condition: 'unreachable',
  trustworthy: false,
  findings: ['It is away.'],
};
const UNFIT: ProbeReport = {
  ...FIT,
  trustworthy: false,
  conditionalPut: 'ignored',
  findings: ['It overwrites.'],
};

function proofOf(reports: readonly ProbeReport[], options: Partial<StoreProofOptions> = {}) {
  const left = [...reports];
  const problems: string[] = [];
  const stopping = new AbortController();
  const proof: StoreProofOptions = {
    location: 'memory:',
    probe: async () => left.shift() ?? FIT,
    identify: async () => 'one',
    acceptWeak: false,
    retryAfter: 1,
    onWarning: (message) => problems.push(message),
    onFailure: (reason, condition) => problems.push(`${condition}: ${reason}`),
    ...options,
  };
  return { prove: () => proveRepeatedly(proof, stopping.signal), stopping, problems };
}

describe('the proof of a store', () => {
  it('is retried until the store passes, and reports the reason meanwhile', async () => {
    const { prove, problems } = proofOf([AWAY, AWAY, FIT]);
    expect(await prove()).toBe(true);
    expect(problems).toEqual(Array(2).fill('unreachable: It is away.'));
  });

  it('fails for good when any attempt finds that the store overwrites', async () => {
    const { prove } = proofOf([AWAY, UNFIT, FIT]);
    await expect(prove()).rejects.toThrow(WeakStoreError);
  });

  it.each([
    ['conditionalPut', 'ignored'],
    ['conditionalPut', 'racy'],
    ['conditionalComplete', 'ignored'],
    ['conditionalComplete', 'racy'],
  ] as const)('fails for good when %s is %s', async (call, finding) => {
    const { prove } = proofOf([{ ...FIT, trustworthy: false, [call]: finding }, FIT]);
    await expect(prove()).rejects.toThrow(WeakStoreError);
  });

  it.each([
    ['a conditional write that the store refuses', { ...FIT, trustworthy: false, conditionalPut: 'refused' }],
    ['a store that is not writable, whatever else was found', { ...UNFIT, writable: false }],
  ] as const)('is retried after %s', async (_name, report) => {
    const findings = ['First.', 'Second.'];
    const { prove, problems } = proofOf([{ ...report, findings } as ProbeReport, FIT]);
    expect(await prove()).toBe(true);
    expect(problems).toEqual(['null: First. Second.']);
  });

  it('takes a weaker store where the configuration accepts it, and says so', async () => {
    const { prove, problems } = proofOf([UNFIT], { acceptWeak: true });
    expect(await prove()).toBe(true);
    expect(problems).toEqual(['weaker guarantee accepted: It overwrites.']);
  });

  it('ends for good with a store that no setting makes fit', async () => {
    const unfit = { ...FIT, writable: false, unfit: 'its listings are not in the order of keys' };
    const { prove } = proofOf([unfit], { acceptWeak: true });
    await expect(prove()).rejects.toThrow(/cannot be used: its listings are not in the order of keys\./);
  });

  it('ends when stopped between attempts', async () => {
    const { prove, stopping } = proofOf([AWAY], { retryAfter: 1_000_000 });
    const ended = prove();
    await new Promise(setImmediate);
    stopping.abort();
    expect(await ended).toBe(false);
  });

  it.each(['create', 'read', 'startUpload', 'write', 'complete', 'delete'])(
    'has a verdict although %s never ends',
    async (hanging) => {
      const store = createMemoryStore((operation) =>
        operation === hanging ? new Promise<void>(() => {}) : undefined,
      );
      const { trustworthy, findings } = await probeStore(store, 20);
      expect(trustworthy).toBe(false);
      if (hanging === 'create' || hanging === 'delete')
        expect(findings[0]).toMatch(new RegExp(`${hanging}: the store did not answer within 20 ms`));
    },
  );
});

import { describe, expect, it } from '@jest/globals';
import { createSharedFolderSync } from '../../../../src/store/file/folder-sync.js';

interface Begun {
  readonly folder: string;
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

/** An fsync that takes until the test ends it. */
function heldSync() {
  const begun: Begun[] = [];
  const sync = createSharedFolderSync(
    (folder) => new Promise((end, fail) => begun.push({ folder, end, fail })),
  );
  return { begun, sync };
}

const turns = () => new Promise((resolve) => setImmediate(resolve));

describe('the fsync of a folder', () => {
  it('is shared by all that ask while another one is running, and begins after that one', async () => {
    const { begun, sync } = heldSync();
    const first = sync('jobs');
    const late = Promise.all([sync('jobs'), sync('jobs'), sync('jobs')]);
    let isLateDone = false;
    void late.then(() => {
      isLateDone = true;
    });
    begun[0]?.end();
    await first;
    await turns();
    expect([begun.length, isLateDone]).toEqual([2, false]);
    begun[1]?.end();
    await late;
    expect(begun).toHaveLength(2);
  });

  it('is begun anew for a call that comes while the shared one is running', async () => {
    const { begun, sync } = heldSync();
    const calls = [sync('jobs'), sync('jobs')];
    begun[0]?.end();
    await turns();
    calls.push(sync('jobs'));
    begun[1]?.end();
    await turns();
    expect(begun).toHaveLength(3);
    begun[2]?.end();
    await Promise.all(calls);
  });

  it('does not wait for that of another folder', () => {
    const { begun, sync } = heldSync();
    void sync('jobs');
    void sync('ledger');
    expect(begun.map(({ folder }) => folder)).toEqual(['jobs', 'ledger']);
  });

  it('fails those that wait for it, because the kernel reports a lost write only once', async () => {
    const { begun, sync } = heldSync();
    const calls = Promise.allSettled([sync('jobs'), sync('jobs'), sync('jobs')]);
    begun[0]?.fail(new Error('EIO'));
    expect((await calls).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    const next = sync('jobs');
    expect(begun).toHaveLength(2);
    begun[1]?.end();
    await next;
  });
});

import { describe, expect, it } from '@jest/globals';
import { createRawKeeper } from '../../../src/receiver/raw-keeper.js';

/** An account with so many bytes, and what is taken of it. */
function accountOf(bytes: number) {
  const account = {
    taken: 0,
    tryKeep(more: number): boolean {
      if (account.taken + more > bytes) return false;
      account.taken += more;
      return true;
    },
    giveBack(less: number): void {
      account.taken -= less;
    },
  };
  return account;
}

const bytes = (length: number, fill = 'a') => Buffer.alloc(length, fill);

describe('the keeper of raw bodies', () => {
  it('keeps all chunks in order and pays for them', () => {
    const account = accountOf(100);
    const kept = createRawKeeper(account, 50);
    kept.keep(bytes(10, 'a'));
    kept.keep(bytes(10, 'b'));
    expect(kept.result()).toEqual(Buffer.concat([bytes(10, 'a'), bytes(10, 'b')]));
    expect(account.taken).toBe(20);
  });

  it('lets go of everything once a body exceeds the cap', () => {
    const account = accountOf(100);
    const kept = createRawKeeper(account, 15);
    kept.keep(bytes(10));
    kept.keep(bytes(10));
    kept.keep(bytes(1));
    expect(kept.result()).toBe('over-cap');
    expect(account.taken).toBe(0);
  });

  it('does not begin to keep a body that is declared to exceed the cap', () => {
    const account = accountOf(100);
    const kept = createRawKeeper(account, 15, 16);
    kept.keep(bytes(10));
    expect(account.taken).toBe(0);
    expect(kept.result()).toBe('over-cap');
  });

  it('keeps a body that is declared to fit', () => {
    const kept = createRawKeeper(accountOf(100), 15, 15);
    kept.keep(bytes(15));
    expect(kept.result()).toEqual(bytes(15));
  });

  it('says that there was no memory, and takes none', () => {
    const account = accountOf(15);
    const kept = createRawKeeper(account, 50);
    kept.keep(bytes(10));
    kept.keep(bytes(10));
    expect(kept.result()).toBe('no-memory');
    expect(account.taken).toBe(0);
  });

  it('gives back what it kept when it is released', () => {
    const account = accountOf(100);
    const kept = createRawKeeper(account, 50);
    kept.keep(bytes(10));
    kept.release();
    expect(account.taken).toBe(0);
    expect(kept.result()).toBe('no-memory');
  });
});

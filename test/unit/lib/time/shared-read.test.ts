import { describe, expect, it } from '@jest/globals';
import { sharedRead } from '../../../../src/lib/time/shared-read.js';

function reads(holdsFor = 10) {
  const begun: { resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
  const at = { now: 1000 };
  const read = () => new Promise<string>((resolve, reject) => begun.push({ resolve, reject }));
  return { begun, at, ask: sharedRead(holdsFor, read, () => at.now) };
}

describe('a shared read', () => {
  it('is one for all who ask while it lasts, however long that is, and then for its time', async () => {
    const { begun, at, ask } = reads();
    const first = ask();
    at.now += 100;
    const second = ask();
    expect(begun).toHaveLength(1);
    begun[0]?.resolve('one');
    expect(await Promise.all([first, second])).toEqual(['one', 'one']);
    at.now = 1009;
    expect(await ask()).toBe('one');
    expect(begun).toHaveLength(1);
    at.now = 1010;
    void ask();
    expect(begun).toHaveLength(2);
  });

  it('begins again after a failure, and when the clock was set back', async () => {
    const { begun, at, ask } = reads();
    const failing = ask();
    begun[0]?.reject(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    const next = ask();
    begun[1]?.resolve('two');
    expect(await next).toBe('two');
    at.now = 10;
    void ask();
    expect(begun).toHaveLength(3);
  });
});

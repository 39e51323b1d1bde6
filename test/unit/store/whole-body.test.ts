import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { StoreError } from '../../../src/store/object-store.js';
import { wholeBody } from '../../../src/store/whole-body.js';

const broken = (error: unknown) => new StoreError('read', `broken: ${(error as Error).message}`);

function bodyOf(expected: number) {
  const source = new PassThrough();
  return { source, body: wholeBody(source, expected, 'a/b', broken) };
}

describe('the body of an object', () => {
  it('passes on its bytes', async () => {
    const { source, body } = bodyOf(5);
    source.write('he');
    source.end('llo');
    expect(String(await buffer(body))).toBe('hello');
  });

  it.each([4, 6])('that has 5 bytes instead of %i ends in an error', async (expected) => {
    const { source, body } = bodyOf(expected);
    source.end('hello');
    await expect(buffer(body)).rejects.toThrow(`read: a/b ended after 5 of ${expected} bytes`);
  });

  it.each([
    ['breaks', new Error('EIO'), 'read: broken: EIO'],
    ['closes without an end', undefined, 'read: a/b ended after 2 of 5 bytes'],
  ])('that %s ends in an error', async (_, error, message) => {
    const { source, body } = bodyOf(5);
    source.write('he');
    const reading = expect(buffer(body)).rejects.toThrow(message);
    await turn();
    source.destroy(error);
    await reading;
  });

  it('that breaks before anybody reads it ends in an error for its reader', async () => {
    const { source, body } = bodyOf(5);
    source.destroy(new Error('EIO'));
    await turn();
    await expect(buffer(body)).rejects.toThrow(StoreError);
  });

  it('closes its source when its reader gives up', async () => {
    const { source, body } = bodyOf(5);
    source.write('he');
    body.destroy();
    await turn();
    expect(source.destroyed).toBe(true);
  });
});

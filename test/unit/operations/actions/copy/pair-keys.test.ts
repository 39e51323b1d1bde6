import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pairKeys } from '../../../../../src/operations/actions/copy/pair-keys.js';
import { compareKeys } from '../../../../../src/store/object-key.js';
import type { ListedObject } from '../../../../../src/store/object-store.js';
import { anyCharacter } from '../../../../support/any-character.js';

const modifiedAt = new Date(0);

async function* listing(keys: ReadonlySet<string>): AsyncGenerator<ListedObject> {
  for (const key of [...keys].sort(compareKeys)) yield { key, size: 1, modifiedAt };
}

describe('pairKeys', () => {
  it('yields every key of both once, in the order of listings, with what each has there', async () => {
    const keys = fc
      .uniqueArray(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 3 }))
      .map((list) => new Set(list));
    await fc.assert(
      fc.asyncProperty(keys, keys, async (left, right) => {
        const found: [string, boolean, boolean][] = [];
        for await (const { key, source, copy } of pairKeys(listing(left), listing(right)))
          found.push([key, source?.key === key, copy?.key === key]);
        const all = [...new Set([...left, ...right])].sort(compareKeys);
        expect(found).toEqual(all.map((key) => [key, left.has(key), right.has(key)]));
      }),
    );
  });
});

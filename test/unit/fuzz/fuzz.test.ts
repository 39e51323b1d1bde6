import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { fuzz, judge, TARGETS } from '../../fuzz/fuzz.js';

/* The bounded share of `npm run fuzz`; more of it, or another seed, is a matter of its arguments. */

const FIXTURES = new URL('./fixtures/', import.meta.url);

describe('made-up input', () => {
  it('is treated as a second reading says, whatever it is', async () => {
    expect(await fuzz(20_261_120, 3_000)).toEqual([]);
  });
});

describe('input worth remembering', () => {
  it.each(readdirSync(FIXTURES).filter((name) => name.endsWith('.json')))('%s', async (name) => {
    const { target, bytes, details } = JSON.parse(readFileSync(new URL(name, FIXTURES), 'utf8'));
    const [found] = TARGETS.find(([{ name: known }]) => known === target) ?? [];
    if (found === undefined) throw new Error(`no target ${target}`);
    expect(await judge(found, { bytes: Buffer.from(bytes, 'base64'), details })).toBeNull();
  });
});

import { describe, expect, it } from '@jest/globals';
import { readSources } from '../../support/project/source-imports.js';

const EXPORT = /^export (?:async )?(?:function\*?|const|class|interface|type) +(\w+)/gm;

/** One name, one thing; but every command has the same entry, and each vocabulary of schemas has its values. */
const SHARED = ['createCommand', 'count', 'instant'];

/** Until the folders that hold them are rebuilt. */
const PENDING = [
  ...['DAY', 'HOUR', 'RollupFigures', 'Settlement', 'Verdict'],
  ...['comparePositions', 'verdictOf', 'verify'],
];

describe('exported names of src', () => {
  it('occur once', () => {
    const files = new Map<string, string[]>();
    for (const [file, text] of readSources()) {
      for (const [, name = ''] of text.matchAll(EXPORT)) files.set(name, [...(files.get(name) ?? []), file]);
    }
    const repeated = [...files].filter(([, places]) => new Set(places).size > 1);
    expect(repeated.filter(([name]) => ![...SHARED, ...PENDING].includes(name))).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { readSources } from '../../support/project/source-imports.js';

const EXPORT = /^export (?:async )?(?:function\*?|const|class|interface|type) +(\w+)/gm;

/** One name, one thing; but every command has the same entry, each vocabulary of schemas its values, and events are verified as well. */
const SHARED = ['createCommand', 'count', 'instant', 'verify'];

describe('exported names of src', () => {
  it('occur once', () => {
    const files = new Map<string, string[]>();
    for (const [file, text] of readSources()) {
      for (const [, name = ''] of text.matchAll(EXPORT)) files.set(name, [...(files.get(name) ?? []), file]);
    }
    const repeated = [...files].filter(([, places]) => new Set(places).size > 1);
    expect(repeated.filter(([name]) => !SHARED.includes(name))).toEqual([]);
  });
});

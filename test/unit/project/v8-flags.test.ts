import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { V8_FLAGS } from '../../../scripts/v8-flags.mjs';
import { collectAsBytesPass } from '../../../src/observe/collect-as-bytes-pass.js';

describe('the flags of V8', () => {
  it('are the same for npm start and for the image', () => {
    const entrypoint = /^ENTRYPOINT (.*)$/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? '[]';
    expect(JSON.parse(entrypoint)).toEqual(['/usr/local/bin/node', ...V8_FLAGS, 'dist/main.js']);
    expect(V8_FLAGS).toContain('--expose-gc');
  });

  it('may be missing: nothing is collected early then', () => {
    const { gc } = globalThis;
    globalThis.gc = undefined;
    try {
      expect(() => collectAsBytesPass(() => 0)(1e9)).not.toThrow();
    } finally {
      globalThis.gc = gc;
    }
  });
});

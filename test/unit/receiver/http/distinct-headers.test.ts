import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { distinctHeaders } from '../../../../src/receiver/http/distinct-headers.js';

describe('distinctHeaders', () => {
  it('keeps every occurrence by itself, under its name in lower case', () => {
    const rawHeaders = ['Host', 'a', 'X-Token', 'one', 'x-token', 'two', 'Cookie', 'a=1', 'Cookie', 'b=2'];
    expect({ ...distinctHeaders({ rawHeaders }) }).toEqual({
      host: ['a'],
      'x-token': ['one', 'two'],
      cookie: ['a=1', 'b=2'],
    });
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])('takes %s for a name', (name) => {
    const headers = distinctHeaders({ rawHeaders: [name, 'x', name, 'y'] });
    expect(Object.entries(headers)).toEqual([[name.toLowerCase(), ['x', 'y']]]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it('is what all of the source reads instead of the releases that throw over __proto__', async () => {
    const source = fileURLToPath(new URL('../../../../src/', import.meta.url));
    const files = (await readdir(source, { recursive: true })).filter((file) => file.endsWith('.ts'));
    const texts = await Promise.all(files.map((file) => readFile(join(source, file), 'utf8')));
    expect(files.filter((_, n) => /\.headersDistinct\b/.test(texts[n] ?? ''))).toEqual([]);
  });

  it('knows nothing that was not sent', () => {
    expect(distinctHeaders({ rawHeaders: [] }).toString).toBeUndefined();
  });
});

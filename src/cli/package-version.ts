import { readFileSync } from 'node:fs';

/** Version of this package; its package.json is two folders above src/cli/, dist/cli/ and dist/chunks/. */
export function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

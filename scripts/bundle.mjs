// Bundles the program into dist/main.js and dist/chunks: its own modules and the packages it uses, in a few files. Loading them takes
// half the time of the thousand files they are made of; docs/decisions/bundle.md has the figures. What others import (package.json,
// "exports") stays as the compiler writes it.
import { rmSync, writeFileSync } from 'node:fs';
import { build } from 'rolldown';

// node-config looks for its parsers, and for the folder of its files, when it runs.
const EXTERNAL = ['config'];

rmSync('dist/chunks', { recursive: true, force: true });
const { output } = await build({
  input: 'src/main.ts',
  platform: 'node',
  external: EXTERNAL,
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  logLevel: 'warn',
  output: {
    dir: 'dist',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: !process.argv.includes('--no-sourcemap'),
  },
});

for (const { type, fileName, code } of output) {
  if (type === 'chunk') writeFileSync(`dist/${fileName}`, withoutWideCharacters(code));
}

/**
 * Node keeps the text of each file that it loads, and two bytes for each character of a file with a single one beyond Latin-1. An escape
 * means the same in texts, patterns and names; a backslash before such a character means nothing, but would take the one of the escape.
 */
function withoutWideCharacters(code) {
  return code.replace(/(\\*)([^\0-\xff])/g, (_, backslashes, character) => {
    const before = backslashes.slice(backslashes.length % 2);
    return `${before}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

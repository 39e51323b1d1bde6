// Bundles the program into dist/main.js and dist/chunks: its own modules and the packages it uses, in a few files. Loading them takes
// half the time of the thousand files they are made of; docs/decisions/bundle.md has the figures. What others import (package.json,
// "exports") stays as the compiler writes it.
import { rmSync } from 'node:fs';
import { build } from 'rolldown';

// node-config looks for its parsers, and for the folder of its files, when it runs.
const EXTERNAL = ['config'];

rmSync('dist/chunks', { recursive: true, force: true });
await build({
  input: 'src/main.ts',
  platform: 'node',
  external: EXTERNAL,
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  logLevel: 'warn',
  output: {
    dir: 'dist',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: !process.argv.includes('--no-sourcemap'),
  },
});

import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/**
 * The flags with which `npm start` and the image start V8; benches, drills and tests start the service with the same
 * ones. Source maps are left out: the image has none, and they take memory.
 */
export const V8_FLAGS = scripts.start
  .split(' ')
  .filter((argument) => argument.startsWith('--') && argument !== '--enable-source-maps');

import { register } from 'node:module';

/** `node --import <this file> program.ts` runs TypeScript on every Node the product supports. */
register('./ts-hooks.mjs', import.meta.url);

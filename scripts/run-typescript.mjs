import { register } from 'node:module';

/** `node --import <this file> program.ts` runs TypeScript without a build, on every Node release that `engines` allows. */
register('./typescript-hooks.mjs', import.meta.url);

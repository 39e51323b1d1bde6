import { jest } from '@jest/globals';

/** A module of the dashboard by its path, e.g. `lib/text/format`. The page has a type checker of its own. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export function pageModule(path: string): Record<string, any> {
  return jest.requireActual(`../../../src/operations/dashboard/${path}.js`);
}

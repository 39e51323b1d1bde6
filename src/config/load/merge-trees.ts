import { isJsonObject } from '../../lib/text/parse-json.js';

/** Two trees of settings as one: maps are merged, everything else of `over` replaces what is below it, lists too. */
export function mergeTrees(under: object, over: object): object {
  const merged = new Map<string, unknown>(Object.entries(under));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isJsonObject(below) && isJsonObject(value) ? mergeTrees(below, value) : value);
  }
  return Object.fromEntries(merged);
}

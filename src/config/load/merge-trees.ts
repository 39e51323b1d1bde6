import { isJsonObject } from '../../lib/text/parse-json.js';

/** Merges two trees of settings: maps are merged, any other value of `over`, lists included, replaces that of `under`. */
export function mergeTrees(under: object, over: object): object {
  const merged = new Map<string, unknown>(Object.entries(under));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isJsonObject(below) && isJsonObject(value) ? mergeTrees(below, value) : value);
  }
  return Object.fromEntries(merged);
}

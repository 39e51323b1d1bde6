import { textHash } from './text-hash.js';

/** Hashes of the values of a line's context; null without any. */
export function contextHashes(context: unknown): readonly number[] | null {
  if (typeof context !== 'object' || context === null) return null;
  return Object.entries(context).map(([name, value]) => contextHash(name, String(value)));
}

export function contextHash(name: string, value: string): number {
  return textHash(`${name}:${value}`);
}

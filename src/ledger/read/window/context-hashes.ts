import { MAX_CONTEXT_NAMES } from '../../../domain/context.js';
import { textHash } from '../../../text/text-hash.js';

/** Hashes of the values of a line's context; null without any. Lines come from the store: anything may be there. */
export function contextHashes(context: unknown): readonly number[] | null {
  if (typeof context !== 'object' || context === null) return null;
  return Object.entries(context)
    .slice(0, MAX_CONTEXT_NAMES)
    .flatMap(([name, value]) => (typeof value === 'string' ? [contextHash(name, value)] : []));
}

export function contextHash(name: string, value: string): number {
  return textHash(`${name}:${value}`);
}

import { MAX_CONTEXT_NAMES } from '../../../domain/context.js';
import { textHash } from '../../../text/text-hash.js';

/** Hashes of the values of a line's context, and of the names whose value was left out; null without any. Lines come from the store: anything may be there. */
export function contextHashes(context: unknown, omitted: unknown): readonly number[] | null {
  const values = entriesOf(context).flatMap(([name, value]) =>
    typeof value === 'string' ? [contextHash(name, value)] : [],
  );
  const hashes = [...values, ...entriesOf(omitted).map(([name]) => contextHash(name, null))];
  return hashes.length === 0 ? null : hashes;
}

function entriesOf(fields: unknown): [string, unknown][] {
  if (typeof fields !== 'object' || fields === null) return [];
  return Object.entries(fields).slice(0, MAX_CONTEXT_NAMES);
}

/** @param value null: it was left out */
function contextHash(name: string, value: string | null): number {
  return textHash(`${name}:${value ?? ''}`);
}

import { hash } from 'node:crypto';

/** A name of the context, and the hash of its value. */
export interface ContextKey {
  readonly name: string;
  readonly hash: bigint;
}

/** Hash of 63 bits of a name of the context and its value, or of a name whose value was left out. */
export function contextHash(name: string, value: string | null): bigint {
  const text = value === null ? name : `${name}=${value}`;
  return hash('sha256', text, 'buffer').readBigInt64BE() >> 1n;
}

/** One for each name of a line. The fields come from the store: anything may be there. */
export function contextKeys(context: unknown, omitted: unknown): ContextKey[] {
  const values = entriesOf(context).flatMap(([name, value]) =>
    typeof value === 'string' ? [{ name, hash: contextHash(name, value) }] : [],
  );
  const known = new Set(values.map(({ name }) => name));
  const without = entriesOf(omitted).filter(([name]) => !known.has(name));
  return [...values, ...without.map(([name]) => ({ name, hash: contextHash(name, null) }))];
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

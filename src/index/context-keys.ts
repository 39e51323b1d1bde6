import { hash } from 'node:crypto';

/** Hashes of a name of the context, and of the name and its value. */
export type ContextKey = readonly [name: number, hash: bigint];

/** Hash of 31 bits of a name of the context. */
export function nameHash(name: string): number {
  return hash('sha256', name, 'buffer').readUInt32BE() >>> 1;
}

/** Hash of 63 bits of a name of the context and its value, or of a name whose value was left out. */
export function contextHash(name: string, value: string | null): bigint {
  const text = value === null ? name : `${name}=${value}`;
  return hash('sha256', text, 'buffer').readBigInt64BE() >> 1n;
}

export function contextKey({
  name,
  value,
}: {
  readonly name: string;
  readonly value: string | null;
}): ContextKey {
  return [nameHash(name), contextHash(name, value)];
}

/** One for each name of a line. The fields come from the store: anything may be there. */
export function contextKeys(context: unknown, omitted: unknown): ContextKey[] {
  const values = entriesOf(context).filter(([, value]) => typeof value === 'string');
  const known = new Set(values.map(([name]) => name));
  const without = entriesOf(omitted).filter(([name]) => !known.has(name));
  return [
    ...values.map(([name, value]) => contextKey({ name, value: String(value) })),
    ...without.map(([name]) => contextKey({ name, value: null })),
  ];
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

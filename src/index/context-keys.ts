import { hash } from 'node:crypto';

/** Hash of 63 bits of a name of the context and its value, or of a name whose value was left out. */
export function contextKey(name: string, value: string | null): bigint {
  const text = value === null ? name : `${name}=${value}`;
  return hash('sha256', text, 'buffer').readBigInt64BE() >> 1n;
}

/** The hashes of all values of a line. The fields come from the store: anything may be there. */
export function contextKeys(context: unknown, omitted: unknown): bigint[] {
  const values = entriesOf(context).flatMap(([name, value]) =>
    typeof value === 'string' ? [contextKey(name, value)] : [],
  );
  return [...values, ...entriesOf(omitted).map(([name]) => contextKey(name, null))];
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

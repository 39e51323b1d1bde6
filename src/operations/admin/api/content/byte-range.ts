export interface HttpRange {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

/**
 * Parses a Range header for an object of `size` bytes (RFC 9110, section 14). Null without a header, and for headers that a
 * server may ignore: other units, several ranges, invalid syntax.
 */
export function parseByteRange(header: string | undefined, size: number): HttpRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}

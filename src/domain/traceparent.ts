/** Version 00 of W3C Trace Context: version, trace id, parent id, flags. Neither id is all zeros. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * The sender's trace: the value of its only `traceparent` header. Null without one, and when it is invalid, of another version or
 * repeated: such a header says nothing, and never rejects a delivery (W3C Trace Context, 3.2.2).
 */
export function readTraceparent(values: readonly string[] | undefined): string | null {
  if (values === undefined || values.length !== 1) return null;
  const [value] = values;
  return value !== undefined && TRACEPARENT.test(value) ? value : null;
}

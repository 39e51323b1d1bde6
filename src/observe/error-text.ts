/** Length of the chain of causes that is included. */
const MAX_DEPTH = 4;
const MAX_TEXT = 500;

/**
 * An error and its causes in one line, without stacks: `StoreError: put failed; Error: connect ECONNREFUSED`. For log
 * lines that a long outage repeats hundreds of thousands of times. Undefined for null and undefined.
 */
export function errorText(error: unknown): string | undefined {
  const texts: string[] = [];
  for (let at = error; at !== undefined && at !== null && texts.length < MAX_DEPTH; at = causeOf(at)) {
    texts.push(at instanceof Error ? `${at.name}: ${messageOf(at)}` : String(at));
  }
  return texts.length === 0 ? undefined : texts.join('; ').slice(0, MAX_TEXT);
}

/** Falls back to the code: Node's AggregateError for several addresses has no message. */
function messageOf(error: Error & { readonly code?: unknown }): string {
  return error.message || String(error.code ?? '');
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

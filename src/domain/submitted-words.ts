import type { OmittedContext } from './context.js';
import type { TooLargeBody } from './delivery.js';

/** What ledger lines record of a request instead of its values, in words for page and command line. */

const OMITTED: Readonly<Record<string, string>> = {
  malformed: 'not 1 to 128 printable ASCII characters without blanks',
  repeated: 'given more than once',
};

/** "customer (given more than once)". Lines come from the store: anything may be there. */
export function omittedInWords(omitted: OmittedContext): string {
  return Object.entries(omitted)
    .filter(([, why]) => typeof why === 'string')
    .map(([name, why]) => `${name} (${OMITTED[why] ?? why})`)
    .join(', ');
}

/** Names that any of these lines omits from its context, each once; null when none does. */
export function omittedOf(
  lines: readonly { readonly contextOmitted?: OmittedContext | undefined }[],
): OmittedContext | null {
  const omitted = Object.assign({}, ...lines.map(({ contextOmitted }) => contextOmitted)) as OmittedContext;
  return Object.keys(omitted).length === 0 ? null : omitted;
}

/** @param size shows a number of bytes */
export function tooLargeInWords({ declared, limit }: TooLargeBody, size: (bytes: number) => string): string {
  const announced =
    declared === null ? 'The sender announced no length' : `The sender announced ${size(declared)}`;
  return `${announced}; the source accepts ${size(limit)} (maxBytes).`;
}

/** As `tooLargeInWords` shows sizes on the command line. */
export function exactBytes(bytes: number): string {
  return `${bytes} bytes`;
}

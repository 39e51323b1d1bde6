import { CONTEXT_NAME, isContextValue } from '../domain/context.js';
import { Problem } from '../domain/problem.js';

/** Why no line can have a value. */
const UNRECORDED =
  'A value is 1 to 128 printable ASCII characters without blanks. Any other is left out when the callback arrives, so that no line has it.';

/** Reads `name=value`. Throws `Problem` `request-invalid`, which shows what to type with each of the known names. */
export function parseContextFilter(
  text: string,
  names: readonly string[] = ['customer'],
): { readonly name: string; readonly value: string } {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined || !isContextValue(value)) {
    // Most likely a value alone.
    const typed = isContextValue(text) && !text.includes('=') && !names.includes(text) ? text : '123';
    const examples = names.map((each) => `${each}=${typed}`).join(' or ');
    const why = name !== undefined && CONTEXT_NAME.test(name) ? ` ${UNRECORDED}` : '';
    throw new Problem('request-invalid', `context must be <name>=<value>, such as ${examples}.${why}`);
  }
  return { name, value };
}

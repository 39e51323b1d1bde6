import { isContextValue } from '../../domain/context.js';
import { Problem } from '../../domain/problem.js';

/** One wanted value of the context. */
export interface ContextFilter {
  readonly name: string;
  readonly value: string;
}

/** Reads `name=value`. Throws `Problem` `request-invalid`, which shows what to type with each of the known names. */
export function parseContextFilter(text: string, names: readonly string[] = ['customer']): ContextFilter {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined || !isContextValue(value)) {
    // Most likely a value alone.
    const typed = isContextValue(text) && !text.includes('=') && !names.includes(text) ? text : '123';
    const examples = names.map((each) => `${each}=${typed}`).join(' or ');
    throw new Problem('request-invalid', `context must be <name>=<value>, such as ${examples}.`);
  }
  return { name, value };
}

import { isContextValue } from '../../domain/context.js';
import { Problem } from '../../domain/problem.js';

/** One wanted value of the context. */
export interface ContextFilter {
  readonly name: string;
  readonly value: string;
}

/** Reads `name=value`. Throws `Problem` `request-invalid`. */
export function parseContextFilter(text: string): ContextFilter {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined || !isContextValue(value)) {
    throw new Problem('request-invalid', 'context must be <name>=<value>, such as call=123.');
  }
  return { name, value };
}

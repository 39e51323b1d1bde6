import { Problem } from '../../domain/problem.js';
import { readInstant } from '../time/instant.js';

/** Milliseconds since the epoch; undefined stays undefined. Throws `Problem` `request-invalid` for an invalid instant. */
export function instantOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = readInstant(text);
  if (time !== null) return time;
  throw new Problem('request-invalid', `${name} must be an ISO 8601 instant with its zone, or a date.`);
}

import { reasonInWords, remedyFor } from '../../domain/reasons.js';

/** What to do, once for each of these reasons that has a remedy; a blank line before them. */
export function formatRemedies(reasons: readonly (string | null)[]): string[] {
  const known = [...new Set(reasons)].flatMap((reason) => {
    const remedy = remedyFor(reason);
    return remedy === null ? [] : [`When ${reasonInWords(reason)}: ${remedy}`];
  });
  return known.length === 0 ? [] : ['', ...known];
}

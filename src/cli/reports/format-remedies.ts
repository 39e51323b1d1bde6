import { reasonInWords, remedyFor } from '../../domain/reasons.js';

/** What to do, once for each of these reasons that has a remedy; a blank line before them. */
export function formatRemedies(reasons: readonly (string | null)[]): string[] {
  const lines = [...new Set(reasons)].flatMap((reason) => {
    const remedy = remedyFor(reason);
    return remedy === null ? [] : [`When ${reasonInWords(reason)}: ${remedy}`];
  });
  return lines.length === 0 ? [] : ['', ...lines];
}

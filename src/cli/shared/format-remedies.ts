import { reasonInWords, remedyFor, remedyForFailure } from '../../domain/reasons.js';

/** What to do, once for each of these reasons and outcomes of failing jobs that has a remedy; a blank line before them. */
export function formatRemedies(
  reasons: readonly (string | null)[],
  outcomes: readonly string[] = [],
): string[] {
  const known = [...new Set(reasons)].flatMap((reason) => {
    const remedy = remedyFor(reason);
    return remedy === null ? [] : [`When ${reasonInWords(reason)}: ${remedy}`];
  });
  const ofOutcomes = [...new Set(outcomes)].flatMap((outcome) => {
    const remedy = remedyForFailure(outcome);
    return remedy === null ? [] : [`When the outcome is ${outcome}: ${remedy}`];
  });
  const lines = [...known, ...ofOutcomes];
  return lines.length === 0 ? [] : ['', ...lines];
}

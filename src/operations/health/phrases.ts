import { count, plural } from '../../lib/text/plural.js';

/** Parts of the sentences about issues. */

/** Outcomes whose name does not say it. */
const FAILURES: Readonly<Record<string, string>> = {
  failed: 'not fetched',
  unrecoverable: 'lost at the service',
  conflict: 'in conflict',
};

/** "3 not fetched, 1 refused" */
export function failuresInWords(outcomes: Readonly<Record<string, number>>): string {
  return Object.entries(outcomes)
    .map(([name, number]) => `${count(number)} ${Object.hasOwn(FAILURES, name) ? FAILURES[name] : name}`)
    .join(', ');
}

/** "eu1: answered 401 (and 1 more)" */
export function faultsInWords({
  faults,
  first,
}: {
  readonly faults: number;
  readonly first: string;
}): string {
  return faults === 1 ? first : `${first} (and ${count(faults - 1)} more)`;
}

/** "2 artefacts missing from the store and 1 artefact damaged" */
export function lossesInWords(missing: number, damaged: number): string {
  return [
    ...(missing > 0 ? [`${plural(missing, 'artefact')} missing from the store`] : []),
    ...(damaged > 0 ? [`${plural(damaged, 'artefact')} damaged`] : []),
  ].join(' and ');
}

/** "; it answered 503 last", after a sentence about a subscriber. */
export function attemptInWords(status: number | null, error: string | null): string {
  if (status !== null) return `; it answered ${status} last`;
  return error === null ? '' : `; the last attempt failed: ${error}`;
}

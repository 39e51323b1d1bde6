import { createRandom } from '../support/random.js';
import { encodingTarget, jsonTarget, multipartTarget } from './body-targets.js';
import { clientAddressTarget, credentialTarget, queryTarget } from './door-targets.js';
import type { FuzzCase, FuzzTarget } from './target.js';

/** With the share of cases each gets. */
export const TARGETS: readonly (readonly [target: FuzzTarget, share: number])[] = [
  [multipartTarget, 0.4],
  [jsonTarget, 0.25],
  [encodingTarget, 0.05],
  [queryTarget, 0.1],
  [clientAddressTarget, 0.1],
  [credentialTarget, 0.1],
];

export interface FuzzFinding {
  readonly target: string;
  /** Number of the case in the seed's stream: with the seed it makes the same case again. */
  readonly number: number;
  readonly fault: string;
  readonly found: FuzzCase;
}

/** Runs `cases` cases against all targets; stops at ten findings. */
export async function fuzz(
  seed: number,
  cases: number,
  onProgress: (done: number) => void = () => {},
): Promise<FuzzFinding[]> {
  const findings: FuzzFinding[] = [];
  let done = 0;
  for (const [target, share] of TARGETS) {
    for (let number = 0; number < Math.round(cases * share) && findings.length < 10; number += 1, done += 1) {
      const found = target.make(createRandom(seed, `${target.name} ${number}`));
      const fault = await judge(target, found);
      if (fault !== null) findings.push({ target: target.name, number, fault, found });
      if (done % 50_000 === 0) onProgress(done);
    }
  }
  return findings;
}

/** An unexpected error is a finding too. */
export function judge(target: FuzzTarget, found: FuzzCase): Promise<string | null> {
  return target
    .judge(found)
    .catch((error: unknown) => `threw ${error instanceof Error ? error.stack : error}`);
}

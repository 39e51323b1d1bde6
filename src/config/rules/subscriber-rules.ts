import type { Settings } from '../schema.js';
import type { BrokenRule } from './broken-rule.js';
import { repeated } from './repeated.js';

export function* subscriberRules({ subscribers }: Settings): Generator<BrokenRule> {
  for (const [name, { secrets, events }] of Object.entries(subscribers)) {
    for (const [list, values] of Object.entries({ secrets, events })) {
      for (const [, second] of repeated([...values.entries()], ([, value]) => value)) {
        yield { path: ['subscribers', name, list, second[0]], expected: 'each only once' };
      }
    }
  }
}

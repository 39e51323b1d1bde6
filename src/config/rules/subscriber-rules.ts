import type { Settings } from '../schema.js';
import type { BrokenRule } from './broken-rule.js';
import { repeated } from './repeated.js';

export function* subscriberRules({ subscribers, sources }: Settings): Generator<BrokenRule> {
  for (const [name, { secrets, events, ...subscriber }] of Object.entries(subscribers)) {
    for (const [index, source] of subscriber.sources.entries()) {
      if (Object.hasOwn(sources, source)) continue;
      yield {
        path: ['subscribers', name, 'sources', index],
        expected: 'the name of a configured source',
        also: [['sources']],
      };
    }
    for (const [list, values] of Object.entries({ secrets, events })) {
      for (const [, second] of repeated([...values.entries()], ([, value]) => value)) {
        yield { path: ['subscribers', name, list, second[0]], expected: 'each only once' };
      }
    }
  }
}

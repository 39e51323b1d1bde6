import type { BrokenRule } from './broken-rule.js';
import { isLoopback } from './loopback.js';
import { repeated } from './repeated.js';
import type { Settings } from './schema.js';

/** Rules of the addresses that events are sent to. */
export function* subscriberRules({ subscribers, sources }: Settings): Generator<BrokenRule> {
  for (const [name, { url, allowHttp, secrets, events, ...subscriber }] of Object.entries(subscribers)) {
    const { protocol, hostname } = new URL(url);
    if (protocol === 'http:' && !allowHttp && !isLoopback(hostname.replace(/^\[|\]$/g, ''))) {
      yield {
        path: ['subscribers', name, 'url'],
        expected: 'an https address; or allowHttp: true on the subscriber, if its network is trusted',
        also: [['subscribers', name, 'allowHttp']],
      };
    }
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

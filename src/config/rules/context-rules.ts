import { longestMetadata, MAX_METADATA_BYTES } from '../../domain/artefact-metadata.js';
import { metadataName, RESERVED_PARAMETERS } from '../../domain/context.js';
import type { BrokenRule } from './broken-rule.js';
import { repeated } from './repeated.js';

/** Names of a source's `context`: none that means something else, none twice, and no more than object metadata takes. */
export function* contextRules(source: string, names: readonly string[]): Generator<BrokenRule> {
  const path = ['sources', source, 'context'];
  for (const [index, name] of names.entries()) {
    if (!RESERVED_PARAMETERS.includes(name)) continue;
    yield { path: [...path, index], expected: `another name: ${name} is a parameter of every callback` };
  }
  for (const [[, first], [index, second]] of repeated([...names.entries()], ([, name]) =>
    metadataName(name),
  )) {
    yield {
      path: [...path, index],
      expected:
        first === second
          ? 'each name once'
          : `a name other than ${first} in letters and digits: both are ${metadataName(first)} in object metadata`,
    };
  }
  const longest = longestMetadata(source, names);
  if (longest > MAX_METADATA_BYTES) {
    yield {
      path,
      expected: `fewer or shorter names: the metadata of an artefact could have ${longest} bytes, and S3 takes ${MAX_METADATA_BYTES}`,
    };
  }
}

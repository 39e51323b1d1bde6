import type { Config } from '../../config/config.js';
import { type FilterNames, filterNames } from '../../index/questions/filter-names.js';

/** The names that filters can have, by the configuration. */
export function filterNamesOf({ sources, egress }: Config): FilterNames {
  const contexts = Object.entries(sources).map(([name, { context }]) => [name, context] as const);
  return filterNames(Object.keys(sources), Object.keys(egress.regions), new Map(contexts));
}

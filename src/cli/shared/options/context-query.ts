import { isContextValue } from '../../../domain/context.js';
import { UsageError } from '../exit-codes.js';

/**
 * The query of a callback URL that carries `name=value` pairs as its context; empty without any. Throws `UsageError` for pairs that the
 * source would ignore.
 */
export function contextQuery(
  source: string,
  admitted: readonly string[],
  pairs: readonly string[] = [],
): string {
  const names = new Set<string>();
  const parameters = pairs.map((pair) => {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    if (name === '') throw new UsageError(`--context takes <name>=<value>, such as call=123, not ${pair}`);
    if (!admitted.includes(name)) {
      const context = [...admitted, name].join(', ');
      throw new UsageError(
        `the source ${source} does not admit ${name}: set sources.${source}.context to [${context}]`,
      );
    }
    if (names.has(name)) throw new UsageError(`--context gives ${name} twice`);
    if (!isContextValue(value)) {
      throw new UsageError(
        `--context ${name}: a value is 1 to 128 printable ASCII characters without spaces`,
      );
    }
    names.add(name);
    return `${name}=${encodeURIComponent(value)}`;
  });
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

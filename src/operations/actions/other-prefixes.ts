import { jobFolder } from '../../archive/layout.js';
import type { LedgerLine } from '../../domain/delivery.js';
import type { SourceScope } from '../../domain/rights.js';
import type { LedgerView } from '../../index/ledger-view.js';
import { isKey } from '../../store/object-key.js';

export interface PrefixParts {
  /** The prefixes of all configured sources. */
  readonly keyPrefixes: readonly string[];
  readonly view: Pick<LedgerView, 'deliveries'>;
}

/** Ledger lines per page. */
const PAGE = 500;

/**
 * Key prefixes of a job's artefacts that no configured source has, by its ledger lines: a source may have been removed, or its prefix
 * changed.
 *
 * @param lines only those that the client may see
 */
export function otherPrefixes(
  keyPrefixes: readonly string[],
  lines: readonly Pick<LedgerLine, 'items'>[],
  jobId: string,
): string[] {
  const folder = jobFolder('', jobId);
  const found = lines
    .flatMap(({ items }) => items.map(({ key }) => ({ key, prefix: key.slice(0, key.indexOf(folder)) })))
    // A ledger that was edited by hand may hold any text.
    .filter(({ key, prefix }) => isKey(key) && key.startsWith(prefix + folder) && /^$|\/$/.test(prefix))
    .map(({ prefix }) => prefix);
  return [...new Set(found)].filter((prefix) => !keyPrefixes.includes(prefix));
}

/** Like `otherPrefixes`, by all lines of the job in the index that the client may see. Rejects with `StoreError` and `IndexError`. */
export async function otherPrefixesOf(
  { keyPrefixes, view }: PrefixParts,
  jobId: string,
  scope: SourceScope,
): Promise<string[]> {
  const found = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await view.deliveries({ job: jobId, limit: PAGE, scope, cursor });
    for (const prefix of otherPrefixes(keyPrefixes, page.deliveries, jobId)) found.add(prefix);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return [...found];
}

import { parseHeaderLine } from '../../lib/text/header-line.js';
import { type AccessCheck, type AccessRules, compileAccessCheck } from './access-check.js';
import { type AccessReporter, compileAccessReport } from './access-report.js';
import type { EgressTable } from './allowlist.js';
import { compileClientAddress, explainForwardedFor } from './client-address.js';

/** A named callback endpoint with its settings. */
export interface Source {
  readonly name: string;
  readonly checkAccess: AccessCheck;
  /** Explains the check to operators. */
  readonly reportAccess: AccessReporter;
  /** Lower-case names of the headers that carry credentials, of any source. */
  readonly credentialHeaders: ReadonlySet<string>;
  /** What a lone body of this source is when the query does not say it: tokens of `contents`. */
  readonly contents: readonly string[];
  /** Names of the submitter's own parameters that are kept. */
  readonly context: readonly string[];
  readonly maxBytes: number;
  /** Empty, or ending in `/`. */
  readonly keyPrefix: string;
}

/** The settings of one source. */
export type SourceSettings = Pick<AccessRules, 'credentials' | 'allow' | 'allowMode'> &
  Pick<Source, 'contents' | 'context' | 'maxBytes' | 'keyPrefix'>;

/** Compiles all sources, once at the start. @throws an error that names what cannot be read */
export function createSources(
  settings: Readonly<Record<string, SourceSettings>>,
  egress: EgressTable,
  trustedProxies: readonly string[],
): ReadonlyMap<string, Source> {
  const clientAddress = compileClientAddress(trustedProxies);
  const forwardedFor = explainForwardedFor(trustedProxies);
  const secretHeaders = credentialHeaders(Object.values(settings));
  return new Map(
    Object.entries(settings).map(([name, { contents, context, maxBytes, keyPrefix, ...access }]) => {
      const rules = { ...access, egress, clientAddress };
      const checkAccess = compileAccessCheck(rules);
      const reportAccess = compileAccessReport(name, rules, checkAccess, forwardedFor);
      const source = { name, checkAccess, reportAccess, contents, context, maxBytes, keyPrefix };
      return [name, { ...source, credentialHeaders: secretHeaders }];
    }),
  );
}

/** The credential headers of all sources: a request to the wrong source may carry the credential of another. */
function credentialHeaders(sources: readonly SourceSettings[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { headers } of sources.flatMap(({ credentials }) => Object.values(credentials))) {
    for (const line of headers) {
      const parsed = parseHeaderLine(line);
      if ('name' in parsed) names.add(parsed.name);
    }
  }
  return names;
}

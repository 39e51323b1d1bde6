import { parseHeaderLine } from '../../text/header-line.js';
import { compileAccessReport } from './access-report.js';
import type { EgressTable } from './allowlist.js';
import { compileClientAddress, explainForwardedFor } from './client-address.js';
import { compileGate, type GateOptions } from './gate.js';
import type { Source } from './sender.js';

/** The settings of one source. */
export type SourceSettings = Pick<GateOptions, 'credentials' | 'allow' | 'allowMode'> &
  Pick<Source, 'contents' | 'maxBytes' | 'keyPrefix'>;

/** Compiles all sources once, at the start. Throws naming what it cannot read. */
export function createSources(
  settings: Readonly<Record<string, SourceSettings>>,
  egress: EgressTable,
  trustedProxies: readonly string[],
): ReadonlyMap<string, Source> {
  const clientAddress = compileClientAddress(trustedProxies);
  const forwardedFor = explainForwardedFor(trustedProxies);
  const secretHeaders = credentialHeaders(Object.values(settings));
  return new Map(
    Object.entries(settings).map(([name, source]) => {
      const { contents, maxBytes, keyPrefix, ...gate } = source;
      const options = { ...gate, egress, clientAddress };
      const compiled = compileGate(options);
      const report = compileAccessReport(name, options, compiled, forwardedFor);
      return [
        name,
        { name, gate: compiled, report, credentialHeaders: secretHeaders, contents, maxBytes, keyPrefix },
      ];
    }),
  );
}

/** Of all sources: who sends to the wrong one may bring the credential of another. */
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

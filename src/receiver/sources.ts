import { parseHeaderLine } from '../domain/header-line.js';
import type { EgressTable } from './allowlist.js';
import type { ClientAddressReader } from './client-address.js';
import { compileGate, type GateOptions } from './gate.js';
import type { Source } from './sender.js';

/** The settings of one source. */
export type SourceSettings = Pick<GateOptions, 'credentials' | 'allow' | 'allowMode'> &
  Pick<Source, 'contents' | 'maxBytes' | 'keyPrefix'>;

/** Compiles all sources once, at the start. Throws naming what it cannot read. */
export function createSources(
  settings: Readonly<Record<string, SourceSettings>>,
  egress: EgressTable,
  clientAddress: ClientAddressReader,
): ReadonlyMap<string, Source> {
  return new Map(
    Object.entries(settings).map(([name, source]) => [
      name,
      compileSource(name, source, egress, clientAddress),
    ]),
  );
}

function compileSource(
  name: string,
  settings: SourceSettings,
  egress: EgressTable,
  clientAddress: ClientAddressReader,
): Source {
  const { contents, maxBytes, keyPrefix, ...gate } = settings;
  return {
    name,
    gate: compileGate({ ...gate, egress, clientAddress }),
    credentialHeaders: credentialHeaders(settings),
    contents,
    maxBytes,
    keyPrefix,
  };
}

function credentialHeaders({ credentials }: SourceSettings): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { headers } of Object.values(credentials)) {
    for (const line of headers) {
      const parsed = parseHeaderLine(line);
      if ('name' in parsed) names.add(parsed.name);
    }
  }
  return names;
}

/** A tree of settings without the tokens and credentials that only a listening receiver needs. */
export function withoutPorts(tree: unknown): unknown {
  if (!isMap(tree)) return tree;
  const { admin: _, sources, ...rest } = tree;
  return isMap(sources) ? { ...rest, sources: mapValues(sources, withoutCredentials) } : rest;
}

/** Nobody is admitted where nothing listens, so that no source can be too open. */
function withoutCredentials(source: unknown): unknown {
  return isMap(source) ? { ...source, credentials: {}, allowUnauthenticated: true } : source;
}

function mapValues(map: Record<string, unknown>, change: (value: unknown) => unknown) {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * What a client of the admin port may be permitted: `view` shows everything but content, `read` content, `repair` lets it
 * change what is stored, `erase` lets it delete.
 */
export const RIGHTS = ['view', 'read', 'repair', 'erase'] as const;
export type Right = (typeof RIGHTS)[number];

/** Names of the sources that exist for a client of the admin port; null: all, and what belongs to no source. */
export type SourceScope = ReadonlySet<string> | null;

export function isInScope(scope: SourceScope, source: string | null | undefined): boolean {
  return scope === null || (typeof source === 'string' && scope.has(source));
}

/**
 * Which of the sources that something follows exist for a client.
 *
 * @param sources empty: all
 */
export function scopeWithin(scope: SourceScope, sources: readonly string[]): SourceScope {
  if (sources.length === 0) return scope;
  return new Set(sources.filter((source) => isInScope(scope, source)));
}

/**
 * Whether something that follows some sources exists for a client.
 *
 * @param sources empty: all
 */
export function followsAnyInScope(scope: SourceScope, sources: readonly string[]): boolean {
  return scopeWithin(scope, sources)?.size !== 0;
}

/** The only source that exists for a client; null when there may be more. */
export function onlySource(scope: SourceScope): string | null {
  const [source = null] = scope ?? [];
  return scope?.size === 1 ? source : null;
}

/** Whether something that concerns some sources exists for a client; without a list it concerns all. */
export function areInScope(scope: SourceScope, sources: readonly string[]): boolean {
  return scope === null || (sources.length > 0 && sources.every((source) => scope.has(source)));
}

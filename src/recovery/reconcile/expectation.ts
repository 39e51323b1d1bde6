import { artefactPath, jobFolder } from '../../archive/layout.js';
import { NO_CONTEXT, type QueryContext, readContext } from '../../domain/context.js';
import { kindOfToken, type RetrievableKind } from '../../domain/kinds.js';
import type { JobRecord } from '../../speech/wire.js';

/** One artefact that should be in the archive. */
export interface ExpectedItem {
  readonly kind: RetrievableKind;
  readonly key: string;
  readonly source: string;
  /** The submitter's own parameters in the URL of the notification entry. */
  readonly submitted: QueryContext;
}

/** A callback that a job should have made. */
export type ExpectedCallback = Pick<ExpectedItem, 'source' | 'submitted'>;

/** The callbacks and artefacts that should have arrived from one job. */
export interface Expectation {
  /** One for each source; at least one. */
  readonly callbacks: readonly ExpectedCallback[];
  readonly items: readonly ExpectedItem[];
  /** Contents that the API does not offer: they are neither reported missing nor fetched. */
  readonly unsupported: readonly string[];
}

/** Settings of a source that recovery uses. */
interface RecoverySource {
  /** Expected contents of jobs whose notification entries do not lead here. */
  readonly contents: readonly string[];
  /** Names of the submitter's own parameters that are kept. */
  readonly context?: readonly string[];
  /** Empty, or ending in `/`. */
  readonly keyPrefix: string;
}

export type RecoverySources = Readonly<Record<string, RecoverySource>>;

/** How jobs were selected. */
export interface Selection {
  /** Only callbacks and artefacts of this source. */
  readonly source: string | null;
  /** A job named by an `operator` is reconciled even if none of its entries leads here. */
  readonly selectedBy: 'list' | 'operator';
}

export interface ExpectationScope extends Selection {
  readonly sources: RecoverySources;
  readonly publicUrl: string | null;
}

interface OwnEntry extends ExpectedCallback {
  readonly contents: readonly string[];
}

/**
 * What should have arrived from a job: the `contents` of its entries that lead here. If none does and an operator named the job, the
 * contents of the source. Null when the job belongs to no source here.
 */
export function expectationOf(job: JobRecord, scope: ExpectationScope): Expectation | null {
  const own = ownEntries(job, scope).filter(({ source }) => scope.source === null || scope.source === source);
  if (own.length > 0) return expectContents(job.id, scope.sources, own);
  const source = sourceWithoutEntry(scope);
  if (source === null) return null;
  const contents = scope.sources[source]?.contents ?? [];
  return expectContents(job.id, scope.sources, [
    { source, contents, submitted: submittedElsewhere(job, scope, source) },
  ]);
}

/** The context of the first callback URL that has one: a tunnel or a former address changes the host of a URL, not its query. */
function submittedElsewhere(job: JobRecord, { sources }: ExpectationScope, source: string): QueryContext {
  const submitted = (job.config.notification_config ?? [])
    .filter(({ url }) => URL.canParse(url))
    .map(({ url }) => submittedIn(url, sources[source]));
  return submitted.find(({ context }) => context !== null) ?? NO_CONTEXT;
}

/**
 * The source in a callback URL of the job that begins with `publicUrl` and is not configured: it was renamed or removed, or the name is
 * mistyped. Null without one, and without `publicUrl`: the URL may then be another installation's.
 */
export function unconfiguredSource(
  job: JobRecord,
  { sources, publicUrl }: Pick<ExpectationScope, 'sources' | 'publicUrl'>,
): string | null {
  if (publicUrl === null) return null;
  const named = (job.config.notification_config ?? []).map(({ url }) => sourceOf(url, publicUrl));
  return named.find((source) => source !== null && !Object.hasOwn(sources, source)) ?? null;
}

/** Absent `contents` mean the transcript, an empty list a notification without a body. */
function ownEntries(job: JobRecord, { sources, publicUrl }: ExpectationScope): OwnEntry[] {
  return (job.config.notification_config ?? []).flatMap(({ url, contents = ['transcript'] }) => {
    const source = sourceOf(url, publicUrl);
    return source === null || !Object.hasOwn(sources, source)
      ? []
      : [{ source, contents, submitted: submittedIn(url, sources[source]) }];
  });
}

function submittedIn(url: string, source: RecoverySource | undefined): QueryContext {
  return readContext(new URL(url).searchParams, source?.context ?? []);
}

/**
 * Load balancers and ingresses change host and scheme, so an address is recognised by its path, `/callbacks/<source>` below any
 * prefix. With `publicUrl` it must also begin with that, which distinguishes two installations on one account.
 */
function sourceOf(url: string, publicUrl: string | null): string | null {
  if (!URL.canParse(url)) return null;
  const { origin, pathname } = new URL(url);
  const [, base, source] = /^(.*)\/callbacks\/([^/]+)\/?$/.exec(pathname) ?? [];
  if (base === undefined || source === undefined) return null;
  if (publicUrl === null) return source;
  const own = new URL(publicUrl);
  return own.origin === origin && own.pathname.replace(/\/+$/, '') === base ? source : null;
}

/** The source of a job without an entry that leads here; null for a job that no operator named, and when several sources are possible. */
function sourceWithoutEntry({ source, sources, selectedBy }: ExpectationScope): string | null {
  if (selectedBy === 'list') return null;
  const names = Object.keys(sources);
  return source ?? (names.length === 1 ? (names[0] ?? null) : null);
}

function expectContents(jobId: string, sources: RecoverySources, own: readonly OwnEntry[]): Expectation {
  const callbacks = new Map<string, ExpectedCallback>();
  const items = new Map<string, ExpectedItem>();
  const unsupported = new Set<string>();
  for (const { source, contents, submitted } of own) {
    if (!callbacks.has(source)) callbacks.set(source, { source, submitted });
    for (const token of contents) {
      const kind = kindOfToken(token.trim());
      if (kind === null) unsupported.add(token);
      else {
        const key = jobFolder(sources[source]?.keyPrefix ?? '', jobId) + artefactPath({ kind });
        if (!items.has(key)) items.set(key, { kind, key, source, submitted });
      }
    }
  }
  return {
    callbacks: [...callbacks.values()],
    items: [...items.values()],
    unsupported: [...unsupported],
  };
}

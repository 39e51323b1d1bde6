import type { JobRecord, NotificationConfig } from '../speech/wire.js';

/** What recovery has to know of a source. */
export interface RecoverySource {
  /** What jobs of this source ask for when their own entries do not say. */
  readonly contents: readonly string[];
  /** Empty, or ending in `/`. */
  readonly keyPrefix: string;
}

export type RecoverySources = Readonly<Record<string, RecoverySource>>;

/** A notification entry that leads to one of our sources. */
export interface OwnEntry {
  readonly source: string;
  readonly entry: NotificationConfig;
}

/**
 * The entries of a job that lead here. Balancers and ingresses change host and scheme, so that an entry is
 * known by its path, `/callbacks/<source>` below whatever prefix; with `publicUrl` it has to begin with that
 * as well, which tells two installations on one account apart.
 */
export function ownEntries(job: JobRecord, sources: RecoverySources, publicUrl: string | null): OwnEntry[] {
  return (job.config.notification_config ?? []).flatMap((entry) => {
    const source = sourceOf(entry.url, sources, publicUrl);
    return source === null ? [] : [{ source, entry }];
  });
}

function sourceOf(url: string, sources: RecoverySources, publicUrl: string | null): string | null {
  if (!URL.canParse(url)) return null;
  const { origin, pathname } = new URL(url);
  const [, base, source] = /^(.*)\/callbacks\/([^/]+)\/?$/.exec(pathname) ?? [];
  if (base === undefined || source === undefined || !Object.hasOwn(sources, source)) return null;
  if (publicUrl === null) return source;
  const ours = new URL(publicUrl);
  return ours.origin === origin && ours.pathname.replace(/\/+$/, '') === base ? source : null;
}

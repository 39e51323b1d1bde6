import type { Right, SourceScope } from '../../../domain/rights.js';

/** Identity and rights of an authenticated request to the admin API. */
export interface Access {
  /** Name of the token, for the ledger. */
  readonly actor: string;
  readonly may: ReadonlySet<Right>;
  /** Sources that it may see. */
  readonly scope: SourceScope;
}

/** A token of the admin port, as the configuration has it. */
export interface AdminToken {
  readonly token: string;
  readonly may: readonly Right[];
  /** Empty means all. */
  readonly sources: readonly string[];
}

export function accessOf(actor: string, { may, sources }: Pick<AdminToken, 'may' | 'sources'>): Access {
  return { actor, may: new Set(may), scope: sources.length === 0 ? null : new Set(sources) };
}

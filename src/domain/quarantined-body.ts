import { ITEM_KINDS, type ItemKind, KINDS, kindOfToken } from './kinds.js';

/**
 * The states of a quarantined body. `released`: an operator had it decoded into the archive. `settled`: its job has what it
 * should have brought, or an operator decided that it need not be released.
 */
export const QUARANTINE_STATES = ['waiting', 'released', 'settled'] as const;
export type QuarantineState = (typeof QUARANTINE_STATES)[number];

/**
 * Acts that settle a body: an operator dismissed it, or acknowledged its job; a refetch found the job complete; files of the job were
 * imported.
 */
export const SETTLED_BY = ['dismissed', 'acknowledged', 'refetched', 'imported'] as const;
export type SettledBy = (typeof SETTLED_BY)[number];

/** What a body should have brought: a kind, a transcript in any format, or `any` where neither callback nor source names it. */
export const WANTED = [...new Set([...ITEM_KINDS, 'transcript' as const, 'any' as const])];
export type Wanted = (typeof WANTED)[number];

/**
 * What a callback should have brought; `any` for a failed job.
 *
 * @param contents tokens of the callback's `contents`, else those of its source
 */
export function wantedOf(status: string, contents: readonly string[]): readonly Wanted[] {
  const tokens = status === 'success' ? contents.map((token) => token.trim().toLowerCase()) : [];
  const wanted = tokens.flatMap((token): Wanted[] => {
    const kind = kindOfToken(token);
    if (kind === null) return [];
    return [token === 'transcript' ? token : kind];
  });
  return wanted.length === 0 ? ['any'] : [...new Set(wanted)];
}

/** The wanted kinds that an artefact of this kind satisfies. */
export function wantsMetBy(kind: ItemKind): readonly Wanted[] {
  const { retention } = KINDS[kind];
  return retention === 'transcript' ? [kind, retention, 'any'] : [kind, 'any'];
}

const COMPLETE = ['recovered', 'duplicate', 'noted'];
const IMPORTED = ['stored', 'duplicate'];

/** Why a body need not be released, by the act's line. */
export interface Settlement {
  readonly v: 1;
  readonly settledAt: string;
  readonly by: SettledBy;
  readonly deliveryId: string;
  /** Null when no operator settled it. */
  readonly actor: string | null;
  readonly reason: string | null;
}

interface ActLine {
  readonly deliveryId: string;
  readonly receivedAt: string;
  readonly origin: string;
  readonly outcome: string;
  readonly actor?: string;
  readonly reason: string | null;
}

/** @param line of an act that settled a body */
export function settlementOf(line: ActLine): Settlement {
  const { receivedAt, deliveryId, actor = null, reason } = line;
  return { v: 1, settledAt: receivedAt, by: settlesBodies(line) ?? 'dismissed', deliveryId, actor, reason };
}

/** How a line settles the bodies that its job, and its source if it has one, received before; null when it does not. */
export function settlesBodies({
  origin,
  outcome,
}: Pick<ActLine, 'origin' | 'outcome'>): Exclude<SettledBy, 'dismissed'> | null {
  if (outcome === 'acknowledged') return 'acknowledged';
  // An import that conflicts leaves a decision open, so it settles nothing.
  if (origin === 'import') return IMPORTED.includes(outcome) ? 'imported' : null;
  return (origin === 'recovery' || origin === 'replay') && COMPLETE.includes(outcome) ? 'refetched' : null;
}

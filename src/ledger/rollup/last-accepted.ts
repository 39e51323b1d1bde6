import type { LastAccepted } from './rollup.js';
import { MAX_NAMES } from './rollup-groups.js';

/** Stands for addresses of no region, as in the figures by region. */
export const NO_REGION = 'none';

/** A line, as far as it says that a callback was accepted. */
interface AcceptedFields {
  readonly origin: string;
  readonly outcome: string;
  readonly source: string | null;
  readonly region: string | null;
  readonly credential: string | null;
  /** Milliseconds since the epoch. */
  readonly received: number;
}

/** When the last callback was accepted, by name: milliseconds since the epoch. Names beyond `MAX_NAMES` are left out. */
export interface LastAcceptedTimes extends Record<keyof LastAccepted, ReadonlyMap<string, number>> {
  add(fields: AcceptedFields): void;
  addAll(other: Record<keyof LastAccepted, Iterable<readonly [string, number]>>): void;
  result(): LastAccepted;
}

export function createLastAccepted(): LastAcceptedTimes {
  const byRegion = new Map<string, number>();
  const bySource = new Map<string, number>();
  const byCredential = new Map<string, number>();
  return {
    byRegion,
    bySource,
    byCredential,
    add({ outcome, origin, region, source, credential, received }) {
      if (outcome === 'refused' || origin !== 'callback') return;
      note(byRegion, region ?? NO_REGION, received);
      if (source !== null) note(bySource, source, received);
      if (credential !== null) note(byCredential, `${source}/${credential}`, received);
    },
    addAll(other) {
      for (const [name, time] of other.byRegion) note(byRegion, name, time);
      for (const [name, time] of other.bySource) note(bySource, name, time);
      for (const [name, time] of other.byCredential) note(byCredential, name, time);
    },
    result: () => ({
      byRegion: Object.fromEntries(byRegion),
      bySource: Object.fromEntries(bySource),
      byCredential: Object.fromEntries(byCredential),
    }),
  };
}

function note(last: Map<string, number>, name: string, time: number): void {
  const known = last.get(name);
  if (known === undefined ? last.size < MAX_NAMES : known < time) last.set(name, time);
}

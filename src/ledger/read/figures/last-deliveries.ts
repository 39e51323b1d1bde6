import type { LedgerRow } from '../window/ledger-row.js';
import { MAX_COUNTED_NAMES } from './summary-figures.js';

/** When the last callback was accepted, by name: milliseconds since the epoch. */
export interface LastDeliveries {
  readonly byRegion: ReadonlyMap<string, number>;
  readonly bySource: ReadonlyMap<string, number>;
  /** By `<source>/<credential>`. */
  readonly byCredential: ReadonlyMap<string, number>;
  add(row: LedgerRow): void;
  addAll(other: Pick<LastDeliveries, 'byRegion' | 'bySource' | 'byCredential'>): void;
}

export function createLastDeliveries(): LastDeliveries {
  const byRegion = new Map<string, number>();
  const bySource = new Map<string, number>();
  const byCredential = new Map<string, number>();
  return {
    byRegion,
    bySource,
    byCredential,
    add({ outcome, origin, region, source, credential, received }) {
      if (outcome === 'refused' || origin !== 'callback') return;
      if (region !== null) note(byRegion, region, received);
      if (source !== null) note(bySource, source, received);
      if (credential !== null) note(byCredential, `${source}/${credential}`, received);
    },
    addAll(other) {
      for (const [name, time] of other.byRegion) note(byRegion, name, time);
      for (const [name, time] of other.bySource) note(bySource, name, time);
      for (const [name, time] of other.byCredential) note(byCredential, name, time);
    },
  };
}

function note(last: Map<string, number>, name: string, time: number): void {
  const known = last.get(name);
  if (known === undefined ? last.size < MAX_COUNTED_NAMES : known < time) last.set(name, time);
}

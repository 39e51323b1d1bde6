import type { LedgerLine } from '../../domain/delivery.js';
import type { LastAccepted } from './rollup.js';
import { MAX_NAMES } from './rollup-groups.js';

/** Collects when the last callback was accepted, by name. Further names than `MAX_NAMES` are left out. */
export interface LastAcceptedBuilder {
  add(line: LedgerLine): void;
  addAll(last: LastAccepted): void;
  result(): LastAccepted;
}

const KINDS = ['bySource', 'byRegion', 'byCredential'] as const;

export function collectLastAccepted(): LastAcceptedBuilder {
  const last = {
    bySource: new Map<string, string>(),
    byRegion: new Map<string, string>(),
    byCredential: new Map<string, string>(),
  };

  function note(times: Map<string, string>, name: string, time: string): void {
    const known = times.get(name);
    if (known === undefined ? times.size < MAX_NAMES : known < time) times.set(name, time);
  }

  return {
    add({ origin, outcome, source, region, credential, receivedAt }) {
      if (origin !== 'callback' || outcome === 'refused') return;
      if (typeof source === 'string') note(last.bySource, source, receivedAt);
      if (typeof region === 'string') note(last.byRegion, region, receivedAt);
      if (typeof credential === 'string') note(last.byCredential, `${source}/${credential}`, receivedAt);
    },
    addAll(other) {
      for (const kind of KINDS) {
        for (const [name, time] of Object.entries(other[kind])) note(last[kind], name, time);
      }
    },
    result: () => ({
      bySource: Object.fromEntries(last.bySource),
      byRegion: Object.fromEntries(last.byRegion),
      byCredential: Object.fromEntries(last.byCredential),
    }),
  };
}

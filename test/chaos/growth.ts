import { setTimeout as sleep } from 'node:timers/promises';
import type { Replica } from './replica.js';

/** Memory of every process of a run over its life. */
export interface Growth {
  stop(): void;
  findings(): { readonly peakBytes: number; readonly grown: readonly string[] };
}

/** Settings of a run allow no more than this, however long it takes: base of the process, budget, garbage. */
const LARGEST_BYTES = 400e6;
/** Samples of a process before its trend says anything. */
const ENOUGH = 60;

export function watchGrowth(replicas: readonly Replica[]): Growth {
  const samples = new Map<string, number[]>();
  const timer = setInterval(() => {
    for (const replica of replicas) {
      const rss = replica.rss();
      const name = `${replica.name} (${replica.pid})`;
      if (rss !== null && rss > 0) samples.set(name, [...(samples.get(name) ?? []), rss]);
    }
  }, 1_000);
  return {
    stop: () => clearInterval(timer),
    findings() {
      const all = [...samples.values()].flat();
      const grown = [...samples].flatMap(([name, own]) => {
        const [early, late] = [
          Math.max(...own.slice(10, own.length / 2)),
          Math.max(...own.slice(own.length / 2)),
        ];
        const trend = own.length > ENOUGH && late > early * 1.5 + 30e6;
        return trend || late > LARGEST_BYTES ? [`${name}: ${mega(early)} to ${mega(late)} MB`] : [];
      });
      return { peakBytes: Math.max(0, ...all), grown };
    },
  };
}

const mega = (bytes: number): number => Math.round(bytes / 1e6);

const AT_REST = [
  'transcript_receiver_deliveries_in_flight',
  'transcript_receiver_memory_budget_used_bytes',
  'transcript_receiver_memory_budget_waiters',
];

/**
 * An idle replica must hold nothing: no delivery, no byte of the budget, no waiting lease. To be called when all senders
 * have finished and no proxy holds back any of their bytes.
 */
export async function gaugesAtRest(replicas: readonly Replica[]): Promise<string[]> {
  let held: string[] = [];
  for (let tries = 0; tries < 40; tries += 1) {
    held = (await Promise.all(replicas.map(heldBy))).flat();
    if (held.length === 0) return [];
    await sleep(250);
  }
  return held;
}

async function heldBy(replica: Replica): Promise<string[]> {
  const text = await fetch(`${replica.adminUrl}/metrics`).then(
    (response) => response.text(),
    (error: unknown) => `${error}`,
  );
  return AT_REST.flatMap((name) => {
    const value = new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)?.[1];
    return value === '0' ? [] : [`${replica.name}: ${name} is ${value ?? 'missing'}`];
  });
}

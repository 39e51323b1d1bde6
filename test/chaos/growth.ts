import type { Replica } from './replica.js';
import { waitForLess } from './wait-for-less.js';

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
export async function gaugesAtRest(replicas: readonly Replica[]): Promise<readonly string[]> {
  const held = await waitForLess(async () => {
    const left = (await Promise.all(replicas.map(heldBy))).flat();
    return { left, amount: left.reduce((sum, { value }) => sum + value, 0) };
  }, 500);
  return held.map(({ what }) => what);
}

interface Held {
  readonly what: string;
  readonly value: number;
}

async function heldBy(replica: Replica): Promise<Held[]> {
  const text = await fetch(`${replica.adminUrl}/metrics`).then(
    (response) => response.text(),
    (error: unknown) => `${error}`,
  );
  return AT_REST.flatMap((name) => {
    const value = new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)?.[1];
    if (value === '0') return [];
    return [
      { what: `${replica.name}: ${name} is ${value ?? 'missing'}`, value: Number(value ?? 'Infinity') },
    ];
  });
}

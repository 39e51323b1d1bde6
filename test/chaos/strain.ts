import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../support/random.js';
import type { Account } from './account.js';
import { type Callback, largeTranscript, letGo, mediaCallback, type Sizes } from './callbacks.js';
import type { Deliverer } from './deliver.js';
import { pausedDownload, stalledImport } from './paused-operators.js';
import type { Replica } from './replica.js';
import { type Answer, send, sendSlowly } from './send.js';

/**
 * Senders and operators that behave badly, within what is allowed. Beside each of them transcripts arrive that have to
 * be answered: that is the contract, whatever the others do.
 */
export interface Strain {
  /** Many large bodies at the same moment, more than the budget holds. */
  burst(random: Random): Promise<void>;
  /** Uploads by the dozen at some tens of kilobytes a second, a handful at the lowest rate, or more than there are slots. */
  slowSenders(random: Random): Promise<void>;
  /** Bodies cut into chunks of one byte. */
  tinyChunks(random: Random): Promise<void>;
  /** Dozens of paused downloads, and stalled imports, on the admin port. */
  pausedOperators(random: Random): Promise<void>;
  /** Resolves when everything that was sent is acknowledged or given up. */
  settled(): Promise<unknown>;
}

export interface StrainOptions {
  readonly seed: number;
  readonly token: string;
  readonly replicas: readonly Replica[];
  /** Addresses of the replicas as senders see them, in the same order. */
  readonly addresses: readonly string[];
  readonly sizes: Sizes;
  /** Uploads at once that are more than the memory budget holds. */
  readonly burst: number;
}

/**
 * Attempts of one transcript beside a strain before it counts as starved; the service makes as many within a minute. Those
 * count after which the other replica took a transcript: else it is the machine or the store that is slow.
 */
const ATTEMPTS = 5;
/** Milliseconds from the begin of a strain after which what got no verdict by then is undecided. */
const STRAIN_MS = 90_000;
/** Milliseconds after the first of them; longer after each. */
const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** Milliseconds that a burst lasts at most; the rest of it is brought across beside what comes next. */
const BURST_MS = 15_000;
const TRANSCRIPT_BYTES = 108_000;
/** The last takes every slot of a replica, and as many senders wait; media for all of them would fill this process. */
const SLOW_SENDERS: readonly [SlowSenders, ...SlowSenders[]] = [
  { count: 12, rate: 50_000, kind: 'media' },
  { count: 8, rate: 1_200, kind: 'media' },
  { count: 40, rate: 20_000, kind: 'media' },
  { count: 256, rate: 2_000, kind: 'transcript' },
];
/** Milliseconds within which slow senders begin. */
const SLOW_START_MS = 800;
/** Beyond the connections that a replica has for its store. */
const DOWNLOADS = 70;
const STALLED_IMPORTS = 8;
/** Bytes that are sent in chunks of one byte. */
const CRUMBS = 250_000;

interface SlowSenders {
  readonly count: number;
  /** Bytes per second. */
  readonly rate: number;
  readonly kind: 'media' | 'transcript';
}

/** What a transcript is sent beside. */
interface Strained {
  /** The replica. */
  readonly which: number;
  readonly name: string;
  readonly until: number;
}

export function createStrain(options: StrainOptions, deliverer: Deliverer, account: Account): Strain {
  const { seed, token, addresses, replicas, sizes } = options;
  const underWay: Promise<void>[] = [];
  let number = 0;

  /** Callbacks of a strain are brought across in the end like all others. */
  function begin(name: string, make: (random: Random, jobId: string) => Callback): Callback {
    number += 1;
    const jobId = `${name}-${seed}-${number}`;
    const callback = make(createRandom(seed, jobId), jobId);
    account.sent.set(jobId, [callback]);
    return callback;
  }

  const makers = {
    media: (random: Random, jobId: string): Callback => mediaCallback(random, jobId, sizes),
    transcript: (random: Random, jobId: string): Callback => largeTranscript(random, jobId, TRANSCRIPT_BYTES),
  };

  /** The strain lasts until every transcript has its answer, or none came in all attempts. */
  async function beside(
    which: number,
    name: string,
    ms: number,
    strain: (over: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const straining = strain(over.signal);
    const transcripts: Promise<void>[] = [];
    const began = performance.now();
    const strained = { which, name, until: began + STRAIN_MS };
    for (await sleep(500); performance.now() < began + ms; await sleep(300))
      transcripts.push(transcript(strained));
    await Promise.all(transcripts);
    over.abort();
    await straining;
  }

  /** Always to the replica that is strained; and once more, which it has to read back to answer. */
  async function transcript(strained: Strained): Promise<void> {
    const callback = begin('beside', makers.transcript);
    account.whole.add(callback);
    if (await isTaken(callback, strained)) {
      await isTaken(callback, { ...strained, name: `${strained.name}, again` });
      letGo(callback);
    } else bringAcrossLater([callback], strained.which);
  }

  /** One after the other, as nothing is to come of it but that they arrive. */
  function bringAcrossLater(callbacks: readonly Callback[], which: number): Promise<void> {
    const bringing = (async () => {
      for (const callback of callbacks) {
        await deliverer.bringAcross(callback, which);
        letGo(callback);
      }
    })();
    underWay.push(bringing);
    return bringing;
  }

  /** Whether a replica takes a transcript now. */
  async function takesOne(which: number): Promise<boolean> {
    const callback = begin('control', makers.transcript);
    account.whole.add(callback);
    const answer = await send(addresses[which] ?? '', callback, 'none', token);
    const taken = deliverer.take(callback, answer, true);
    if (taken) letGo(callback);
    else bringAcrossLater([callback], which);
    return taken;
  }

  async function isTaken(callback: Callback, { which, name, until }: Strained): Promise<boolean> {
    const answers: string[] = [];
    for (let tries = 0, starving = 0; starving < ATTEMPTS; tries += 1) {
      if (performance.now() > until) {
        account.undecided.push(callback.jobId);
        return false;
      }
      const began = performance.now();
      const answer = await send(addresses[which] ?? '', callback, 'none', token);
      const took = Math.round(performance.now() - began);
      answers.push(`${described(answer)} after ${took} ms`);
      if (deliverer.take(callback, answer, true)) {
        account.besideStrain.push(took);
        return true;
      }
      if (await takesOne((which + 1) % addresses.length)) starving += 1;
      await sleep(Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** tries));
    }
    account.starved.push(`${callback.jobId} beside ${name}: ${answers.join(', ')}`);
    return false;
  }

  return {
    async burst() {
      const callbacks = Array.from({ length: options.burst }, () => begin('burst', makers.media));
      const brought = Promise.all(callbacks.map((callback, index) => bringAcrossLater([callback], index)));
      await Promise.race([brought, sleep(BURST_MS)]);
    },

    async slowSenders(random) {
      const which = random.whole(0, addresses.length - 1);
      const { count, rate, kind } = random.pick(SLOW_SENDERS);
      const refused: Callback[] = [];
      const slow = async (over: AbortSignal, delay: number): Promise<void> => {
        // Making all bodies at once would keep the proxies of this process from their work.
        await sleep(delay);
        const callback = begin('slow', makers[kind]);
        while (!over.aborted) {
          const { answer, whole } = await sendSlowly(addresses[which] ?? '', callback, token, rate, over);
          if (whole) account.whole.add(callback);
          if (deliverer.take(callback, answer, whole)) return letGo(callback);
          // Refused: the service comes again after a while.
          if (!over.aborted) await sleep(1_000);
        }
        refused.push(callback);
      };
      await beside(which, `${count} uploads at ${rate} B/s`, random.whole(2_000, 4_000), (over) =>
        Promise.all(Array.from({ length: count }, (_, index) => slow(over, (index * SLOW_START_MS) / count))),
      );
      bringAcrossLater(refused, which);
    },

    async tinyChunks(random) {
      const which = random.whole(0, addresses.length - 1);
      const crumble = (): void => {
        const callback = begin('crumbs', (own, jobId) => ({
          ...largeTranscript(own, jobId, CRUMBS),
          spoilings: ['crumbs', 'none'],
        }));
        bringAcrossLater([callback], which);
      };
      await beside(which, 'bodies of tiny chunks', 2_000, async () => {
        for (let sent = 0; sent < 3; sent += 1) crumble();
      });
    },

    async pausedOperators(random) {
      const which = random.whole(0, addresses.length - 1);
      const admin = `${replicas[which]?.adminUrl ?? ''}/admin/api/jobs`;
      const largest = largestArtefact(account);
      const download = `${admin}/${largest?.jobId}/artefacts/${largest?.file}`;
      await beside(which, 'paused downloads and stalled imports', random.whole(2_000, 4_000), (over) =>
        Promise.all([
          ...Array.from({ length: largest === null ? 0 : DOWNLOADS }, () => pausedDownload(download, over)),
          ...Array.from({ length: STALLED_IMPORTS }, () =>
            stalledImport(`${admin}/import-${seed}/artefacts`, over),
          ),
        ]),
      );
    },

    async settled() {
      for (let done = 0; done < underWay.length; ) {
        done = underWay.length;
        await Promise.all(underWay);
      }
    },
  };
}

function described(answer: Answer | null): string {
  if (answer === null) return 'no answer';
  return `${answer.status} ${/"detail":"([^"]*)"/.exec(answer.body)?.[1] ?? ''}`;
}

function largestArtefact(account: Account): { jobId: string; file: string } | null {
  let largest: { jobId: string; file: string; size: number } | null = null;
  for (const { callback } of account.acknowledged) {
    for (const { file, size } of callback.items)
      if (size > (largest?.size ?? 0)) largest = { jobId: callback.jobId, file, size };
  }
  return largest;
}

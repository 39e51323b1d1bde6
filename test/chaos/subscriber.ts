import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account, Acknowledgement } from './account.js';
import type { StoreView } from './store-view.js';
import { waitForLess } from './wait-for-less.js';

const KEY = Buffer.alloc(32, 'chaos');
export const SUBSCRIBER = 'crm';

/** How the subscriber answers for a while. */
export type SubscriberMood = 'accepts' | 'fails' | 'hangs' | 'slow' | 'gone' | 'loses answers';

/** The address that the replicas send events to. Knows nothing of the product but its documentation. */
export interface ChaosSubscriber {
  /** Settings of `subscribers`. */
  readonly settings: object;
  setMood(mood: SubscriberMood): void;
  /** Waits until what was acknowledged is announced; resolves to what is wrong. */
  check(account: Account, view: StoreView): Promise<AnnouncementFindings>;
  end(): Promise<void>;
}

export interface AnnouncementFindings {
  /** Accepted events, each once. */
  readonly events: number;
  /** Accepted again. */
  readonly repeated: number;
  readonly faults: string[];
}

interface ChaosEvent {
  readonly id: string;
  readonly subject: string;
  readonly data: Pick<Acknowledgement, 'outcome' | 'items'>;
}

export async function startSubscriber(): Promise<ChaosSubscriber> {
  const accepted = new Map<string, ChaosEvent>();
  const faults: string[] = [];
  let repeated = 0;
  let mood: SubscriberMood = 'accepts';
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  function accept(text: string, headers: IncomingMessage['headers']): void {
    const id = headers['webhook-id'];
    const signed = `${id}.${headers['webhook-timestamp']}.${text}`;
    const expected = `v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`;
    if (headers['webhook-signature'] !== expected) faults.push(`${id}: the signature is wrong`);
    const event = JSON.parse(text) as ChaosEvent;
    if (event.id !== id) faults.push(`${id}: the event says ${event.id}`);
    const before = accepted.get(event.id);
    if (before !== undefined) repeated += 1;
    if (before !== undefined && JSON.stringify(before) !== text)
      faults.push(`${id}: was another event before: ${JSON.stringify(before)}, then ${text}`);
    accepted.set(event.id, event);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const current = mood;
    if (current === 'gone') return void request.socket.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (current === 'hangs') return;
    if (current === 'fails') return void response.writeHead(503).end();
    if (current === 'slow') await sleep(400);
    accept(Buffer.concat(chunks).toString(), request.headers);
    if (current === 'loses answers') return void request.socket.destroy();
    response.writeHead(204).end();
  }

  return {
    settings: {
      [SUBSCRIBER]: {
        url: `http://127.0.0.1:${port}/events`,
        secrets: [`whsec_${KEY.toString('base64')}`],
        maxInFlight: 16,
      },
    },
    setMood(next) {
      mood = next;
    },
    async check(account, view) {
      const since = await subscribedSince(view);
      // What ended before the subscription began, by a clock that was wrong.
      const promised = account.acknowledged.filter(
        ({ acknowledgement: { deliveryId, items } }) =>
          timeOf(deliveryId) > since && items.some(({ outcome }) => outcome !== 'identical'),
      );
      await waitForLess(async () => {
        const left = promised.filter(({ acknowledgement }) => !accepted.has(acknowledgement.deliveryId));
        return { left, amount: -accepted.size };
      }, 500);
      const creators = new Map<string, string>();
      for (const { id, data } of accepted.values()) {
        for (const { key, outcome } of data.items) {
          if (outcome !== 'created') continue;
          const other = creators.get(key);
          if (other !== undefined) faults.push(`${key}: announced by ${other} and ${id}`);
          creators.set(key, id);
        }
      }
      for (const { acknowledgement } of promised) {
        const announced = accepted.get(acknowledgement.deliveryId)?.data.items.map(({ key }) => key) ?? [];
        for (const { key } of acknowledgement.items) {
          if (!announced.includes(key)) faults.push(`${acknowledgement.deliveryId}: ${key} is not announced`);
        }
      }
      return { events: accepted.size, repeated, faults };
    },
    async end() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function subscribedSince(view: StoreView): Promise<number> {
  const state = JSON.parse((await view.read(`outbox/${SUBSCRIBER}/state.json`)).toString()) as {
    since: string;
  };
  return Date.parse(state.since);
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** When an id was made, in milliseconds since the epoch. */
function timeOf(id: string): number {
  return Array.from(id.slice(0, 10)).reduce((sum, digit) => sum * 32 + DIGITS.indexOf(digit), 0);
}

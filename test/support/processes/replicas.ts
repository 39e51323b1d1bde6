import { freePort } from '../http/free-port.js';
import { ownAddress } from '../http/own-address.js';
import { temporaryFolder } from '../temporary-folder.js';
import { type ReceiverProcess, startReady } from './receiver-process.js';

/**
 * Two processes of the real binary over one store. Each keeps its own port over restarts. By default their source
 * `default` requires `CREDENTIAL`.
 */
export interface Replicas {
  /** host:port of each. */
  readonly addresses: readonly [string, string];
  /** Folder of the file store both share. */
  readonly folder: string;
  at(index: number): ReceiverProcess;
  /** Starts the replica again on its port, ready when it resolves. */
  start(index: number): Promise<void>;
  stop(): Promise<void>;
}

const TOKEN = 'behind-a-balancer-only-with-a-token';

/** Headers of a callback to a `GUARDED` source. */
export const CREDENTIAL = { 'X-Callback-Token': TOKEN } as const;

/** Settings of a source that accepts forwarded requests, because it has a credential. */
export const GUARDED = { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}`] } } };

type Settings = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export async function startReplicas(settings: Settings = {}): Promise<Replicas> {
  const folder = await temporaryFolder();
  // They start again on the ports that they had.
  const host = ownAddress();
  const ports = [await freePort(), await freePort()];
  const running: ReceiverProcess[] = [];

  async function start(index: number): Promise<void> {
    const replica = await startReady({
      sources: { default: GUARDED },
      ...settings,
      receiver: {
        host,
        trustedProxies: ['127.0.0.1'],
        ...settings.receiver,
        port: ports[index],
      },
      admin: { port: 0 },
      store: { url: `file:${folder.path}`, ...settings.store },
      replicaName: `replica-${index}`,
    });
    running[index] = replica;
  }

  await Promise.all([start(0), start(1)]);
  return {
    addresses: [`${host}:${ports[0]}`, `${host}:${ports[1]}`],
    folder: folder.path,
    at(index) {
      const replica = running[index];
      if (replica === undefined) throw new Error(`there is no replica ${index}`);
      return replica;
    },
    start,
    async stop() {
      await Promise.all(running.map((replica) => replica.destroy()));
      await folder.remove();
    },
  };
}

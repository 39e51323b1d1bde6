import type { AddressInfo } from 'node:net';
import { serviceLimits } from '../../../src/app/fixed-limits.js';
import { createArchive } from '../../../src/archive/archive.js';
import { createErasures } from '../../../src/archive/erasure/erasures.js';
import { createQuarantine } from '../../../src/archive/quarantine/quarantine.js';
import { parseConfig } from '../../../src/config/config.js';
import { createLedger } from '../../../src/ledger/write/ledger.js';
import { ConnectionRequests } from '../../../src/lib/http/connections/connection-requests.js';
import { createBufferPool } from '../../../src/lib/memory/buffer-pool.js';
import { ByteBudget } from '../../../src/lib/memory/byte-budget.js';
import { createSources } from '../../../src/receive/access/sources.js';
import { Admission } from '../../../src/receive/admission.js';
import { createPublicServer } from '../../../src/receive/public-server.js';
import { Receiver } from '../../../src/receive/receive.js';
import { createPublicApp, mountCallbacks } from '../../../src/receive/router.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import { temporaryFolder } from '../temporary-folder.js';

/** A receiver over real sockets and files whose memory budget a test can read and whose clock it advances. */
export interface ReceiverWithBudget {
  readonly url: string;
  readonly budget: ByteBudget;
  /** Advances the budget's clock. */
  pass(seconds: number): void;
  stop(): Promise<void>;
}

/** @param options.total bytes of the budget; parts have `options.part` */
export async function startReceiverWithBudget(options: {
  readonly total: number;
  readonly part: number;
}): Promise<ReceiverWithBudget> {
  const folder = await temporaryFolder();
  const store = createFileStore({ directory: folder.path, partSize: options.part, fsync: false });
  let time = 0;
  const budget = new ByteBudget({ total: options.total, reserve: options.part, now: () => time });
  const pool = createBufferPool({ largest: options.part, most: options.total });
  const ledger = createLedger({ store, replica: 'test' });
  const { sources, egress, limits } = parseConfig({});
  const receiver = new Receiver({
    sources: createSources(sources, egress.regions, []),
    admission: new Admission({ maxConcurrent: 100, maxWaiters: 10 }, budget),
    archive: createArchive(store, budget, pool),
    quarantine: createQuarantine(store),
    erasures: createErasures(store),
    ledger,
    limits: { quarantineBytes: options.part },
    observer: {
      delivered: () => {},
      refused: () => {},
      unauthenticated: () => {},
      refusalUnrecorded: () => {},
    },
  });
  const app = createPublicApp();
  mountCallbacks(app, {
    receiver,
    bodyLimits: serviceLimits(limits),
    drain: { bytes: 0, ms: 100 },
    draining: new AbortController().signal,
    onUnexpected: (error) => {
      throw error;
    },
  });
  const server = createPublicServer(app, new ConnectionRequests(), {
    keepAliveTimeout: 5000,
    headersTimeout: 5000,
    maxHeaderBytes: 16_384,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    budget,
    pass(seconds) {
      time += seconds * 1000;
      budget.checkWaiters();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await ledger.close();
      await store.close();
      await folder.remove();
    },
  };
}

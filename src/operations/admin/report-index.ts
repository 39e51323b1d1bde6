import type { IndexPlace } from '../../index/open-index.js';
import type { Logger } from '../../observe/logger.js';

const IN_MEMORY = {
  'no-folder': 'this machine has no folder for it: set ledger.index.path',
  'in-use': 'another process keeps it: set another ledger.index.path',
  unwritable: 'its file cannot be written: set another ledger.index.path',
} as const;

/** Logs the place of the index. Warns of one in memory, which is small and rebuilt at each start. */
export function reportIndex(log: Pick<Logger, 'info' | 'warn'>) {
  return ({ path, cause }: IndexPlace): void => {
    if (cause === null) return log.info({ event: 'index', path }, 'the index of the ledger is open');
    log.warn(
      { event: 'index-in-memory', cause },
      `the index of the ledger is in memory: ${IN_MEMORY[cause]}`,
    );
  };
}

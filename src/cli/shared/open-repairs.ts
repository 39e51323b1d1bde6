import { createRepairs, type Repairs } from '../../repair/repairs.js';
import type { RecoveryWork } from './with-recovery.js';

/** Name under which the ledger knows who sits at the command line. */
export const CLI_ACTOR = 'command-line';

/** The ledger's reader and the repairs, as the admin port has them. A command line does not give way to callbacks. */
export function openRepairs({ config, parts }: RecoveryWork): Repairs {
  return createRepairs({
    ...parts,
    recovery: parts,
    sources: new Map(Object.entries(config.sources)),
    maxParts: config.limits.maxParts,
    replica: `${config.replicaName}-${CLI_ACTOR}`,
    busy: () => false,
  });
}

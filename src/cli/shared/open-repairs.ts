import { openCommandOutbox } from '../../app/open-outbox.js';
import { createRepairs, type Repairs } from '../../operations/actions/repairs.js';
import type { Outbox } from '../../subscribers/outbox.js';
import { CLI_ACTOR } from './cli-actor.js';
import type { RecoveryWork } from './with-recovery.js';

/** The ledger view and the repairs, as on the admin port, and the subscribers. Commands do not yield to callbacks. */
export function openRepairs({ config, parts, view }: RecoveryWork): Repairs & { readonly outbox: Outbox } {
  const subscribers = new Map(Object.entries(config.subscribers));
  const outbox = openCommandOutbox(config, parts.store);
  const repairs = createRepairs({
    ...parts,
    view,
    events: { outbox, subscribers },
    recovery: parts,
    sources: new Map(Object.entries(config.sources)),
    replica: `${config.replicaName}-${CLI_ACTOR}`,
    busy: () => false,
  });
  return { ...repairs, outbox };
}

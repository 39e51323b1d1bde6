import type { LedgerView } from '../../../src/index/ledger-view.js';

/** What the index says of bodies whose lines it does not have. */
export const EMPTY_INDEX: Pick<LedgerView, 'bodies'> = {
  bodies: async () => ({
    bodies: [],
    nextCursor: null,
    index: { since: null, until: null, missing: [] },
  }),
};

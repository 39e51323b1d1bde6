/** Upper bound of distinct names, which senders and hand-edited lines choose. Further names are left out. */
export const MAX_NAMES = 100;

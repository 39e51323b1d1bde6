/** Work beside callbacks that needs a prefix of the store, and what does not happen while it is denied, in a whole sentence. */
const WITHOUT = {
  erasing: 'Jobs cannot be erased.',
  merging: 'Hours of the ledger are not merged.',
  recovering: 'Jobs that ended without a transcript are not recorded.',
  replaying: 'No replay can begin or go on.',
  reporting: 'Runs of reconcile and verify are not recorded, and refused requests are not counted.',
  sending: 'Events wait.',
  notifying: 'Notices of issues may come twice, or not at all.',
} as const;

export type OtherWork = keyof typeof WITHOUT;

/** Throws for work that this version does not know. */
export function withoutWork(work: OtherWork): string {
  if (!Object.hasOwn(WITHOUT, work)) throw new Error(`there is no work ${work}`);
  return WITHOUT[work];
}

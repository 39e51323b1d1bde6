import { RECOVERY_OUTCOMES } from './recovery-outcome.js';

/** What a run of reconcile found and did. */
export interface RunResult {
  readonly outcomes: Readonly<Partial<Record<string, number>>>;
  /** Jobs without a transcript whose callback was lost, and whose end the run recorded. */
  readonly recorded: number;
  /** Jobs that belong to no source here. */
  readonly ignored: number;
  /** How many of these have a callback URL that leads here, by its source, which is not configured. */
  readonly unconfigured: Readonly<Record<string, number>>;
  readonly faults: readonly { readonly region: string | null; readonly reason: string }[];
}

const NOTHING_SEEN = 'No job was compared, and nothing is known of the results of this time';
const WOULD_BE_FETCHED =
  'Pending jobs would be fetched, are still running, or are younger than recovery.grace';
const PENDING =
  'Pending jobs are still running, or younger than recovery.grace, and their callbacks may still come: run reconcile again then';

/** What is missing where the receiver cannot ask the service. */
export const RECOVERY_NOT_CONFIGURED =
  'The service cannot be asked: set speech.apiKey and speech.regions.<region>.batchUrl, then restart. transcript-receiver doctor checks them.';

/** How many jobs had which outcome; null when the run saw none because of its faults. */
export function countsOfRun({
  outcomes,
  ignored,
  faults,
}: RunResult): readonly (readonly [string, number])[] | null {
  const seen = Object.values(outcomes).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  if (faults.length > 0 && seen === 0) return null;
  const counts = RECOVERY_OUTCOMES.flatMap((outcome) => {
    const count = outcomes[outcome];
    return count === undefined ? [] : [[outcome, count] as const];
  });
  return ignored > 0 ? [...counts, ['not ours', ignored]] : counts;
}

/** Sentences about the run that complete its counts. */
export function notesOfRun(result: RunResult, dryRun = false): string[] {
  const { outcomes, recorded, unconfigured } = result;
  return [
    ...(countsOfRun(result) === null ? [NOTHING_SEEN] : []),
    ...(recorded > 0 ? [recordedInWords(recorded, dryRun)] : []),
    ...Object.entries(unconfigured).map(unconfiguredInWords),
    ...((outcomes.pending ?? 0) > 0 ? [dryRun ? WOULD_BE_FETCHED : PENDING] : []),
  ];
}

/** The faults that kept the run from seeing every job. */
export function faultsOfRun({ faults }: Pick<RunResult, 'faults'>): string[] {
  return faults.map(({ region, reason }) => `error${region === null ? '' : ` in ${region}`}: ${reason}`);
}

function recordedInWords(recorded: number, dryRun: boolean): string {
  const end = dryRun ? 'would be recorded' : 'is on record now, and subscribers are notified';
  return `${recorded} without a transcript, whose callback was lost: that ${end}`;
}

function unconfiguredInWords([source, jobs]: readonly [string, number]): string {
  return `${jobs} not ours: the callback URL leads to the source "${source}", which is not configured, and gets 404. Configure it and restart: the next run fetches what is missing`;
}

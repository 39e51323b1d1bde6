import type { Account } from './account.js';
import type { ChaosOptions } from './chaos.js';
import type { Verdict } from './checker.js';
import type { CommandFindings } from './commands.js';
import type { AnnouncementFindings } from './subscriber.js';

export interface Outcome {
  readonly options: ChaosOptions;
  readonly seconds: number;
  readonly jobs: number;
  readonly account: Account;
  readonly disturbances: ReadonlyMap<string, number>;
  readonly verdict: Verdict;
  readonly fromSimulator: {
    readonly delivered: number;
    readonly missing: readonly string[];
    readonly foreign: readonly string[];
  };
  readonly fromCommands: CommandFindings | undefined;
  readonly fromIndexes: readonly string[];
  readonly announcements: AnnouncementFindings;
  readonly leftovers: readonly string[];
  readonly growth: { readonly peakBytes: number; readonly grown: readonly string[] };
  readonly rest: readonly string[];
  readonly crashes: readonly string[];
}

/** Prints the verdict and what is needed to repeat the run. True without faults. */
export function printVerdict(outcome: Outcome): boolean {
  const { options, account, verdict, fromSimulator, fromCommands } = outcome;
  const faults: Record<string, readonly string[]> = {
    lost: [...verdict.lost, ...fromSimulator.missing, ...(fromCommands?.lost ?? [])],
    damaged: verdict.damaged,
    foreign: [...verdict.foreign, ...fromSimulator.foreign],
    double: [...verdict.double, ...(fromCommands?.double ?? [])],
    'half-visible': verdict.halfVisible,
    'not announced': outcome.announcements.faults,
    orphaned: outcome.leftovers,
    grown: outcome.growth.grown,
    'held at rest': outcome.rest,
    crashed: outcome.crashes,
    'other index': outcome.fromIndexes,
    'command failed': fromCommands?.failed ?? [],
    'against the contract': account.oddities,
    starved: account.starved,
    'given up in calm': account.givenUp.map(({ jobId }) => jobId),
  };
  const counted = (map: ReadonlyMap<string, number>): string =>
    [...map]
      .sort()
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  console.log(
    `seed ${options.seed}, store ${options.store}, ${Math.round(outcome.seconds)} s, ${outcome.jobs} jobs`,
  );
  console.log(`disturbances: ${counted(outcome.disturbances)}`);
  if (fromCommands !== undefined) console.log(`killed commands: ${counted(fromCommands.killed)}`);
  console.log(`answers: ${counted(account.answers)}`);
  console.log(
    `acknowledged ${account.acknowledged.length}, by the simulator's account ${fromSimulator.delivered}; ` +
      `objects ${verdict.objects}, ledger lines ${verdict.ledgerLines}, peak RSS ${Math.round(outcome.growth.peakBytes / 1e6)} MB`,
  );
  const { events, repeated } = outcome.announcements;
  console.log(`events ${events}, repeated ${repeated}`);
  console.log(
    `beside slow senders, tiny chunks and paused operators: ${account.besideStrain.length} transcripts taken, ` +
      `the slowest after ${Math.max(0, ...account.besideStrain)} ms, undecided ${account.undecided.length}`,
  );
  for (const [name, found] of Object.entries(faults)) {
    for (const one of found.slice(0, 20)) console.log(`  ${name}: ${one}`);
  }
  const passed =
    Object.values(faults).every((found) => found.length === 0) &&
    account.acknowledged.length > 0 &&
    outcome.announcements.events > 0 &&
    fromSimulator.delivered > 0;
  const sums = Object.entries(faults).map(([name, found]) => `${name} ${found.length}`);
  console.log(`verdict: ${passed ? 'passed' : 'FAILED'}: ${sums.join(', ')}`);
  if (!passed)
    console.log(
      `again: npm run chaos -- --seed ${options.seed} --minutes ${options.minutes} --store ${options.store}` +
        `${options.commands ? ' --commands' : ''}${options.only === '' ? '' : ` --only "${options.only}"`}`,
    );
  return passed;
}

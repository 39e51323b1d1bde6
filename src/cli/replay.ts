import { Argument, Command } from 'commander';
import { openCommandOutbox } from '../app/open-outbox.js';
import { createQuarantineStore } from '../archive/quarantine/quarantine-store.js';
import { loadConfig } from '../config/config.js';
import { stepsAfterReplay } from '../domain/next-steps.js';
import { reasonInWords } from '../domain/reasons.js';
import { rejectUnknownNames } from '../index/questions/filter-names.js';
import { isUlid } from '../lib/text/id-cursor.js';
import { plural } from '../lib/text/plural.js';
import type {
  ReplayFailure,
  ReplaySelector,
  ReplayState,
} from '../operations/actions/replay/replay-state.js';
import { createReplayStore } from '../operations/actions/replay/replay-store.js';
import { createReplays, type Replays } from '../operations/actions/replay/replays.js';
import type { Replay } from '../operations/answers/replays.js';
import type { Outbox } from '../subscribers/outbox.js';
import { CLI_ACTOR } from './shared/cli-actor.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { filterNamesOf } from './shared/filter-names-of.js';
import { printJson, printLines } from './shared/format/print.js';
import type { Running } from './shared/on-store/run-on-store.js';
import { checkJobs } from './shared/options/check-jobs.js';
import { readTime } from './shared/options/read-time.js';
import { repeatable } from './shared/options/repeatable.js';
import { type RecoveryWork, withRecovery } from './shared/with-recovery.js';

interface Options {
  readonly job?: readonly string[];
  readonly since?: Date;
  readonly until?: Date;
  readonly subscriber?: string;
  readonly dead?: true;
  readonly event?: readonly string[];
  readonly source?: string;
  readonly region?: string;
  readonly status?: string;
  readonly outcome?: string;
  readonly context?: string;
  readonly cause?: string;
  readonly reason?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

const KINDS = ['refetch', 'release', 'notify'];

export function createCommand(): Command {
  return new Command('replay')
    .addArgument(new Argument('[kind]', 'what to do').choices(KINDS).default('refetch'))
    .option('--job <id>', 'only this job; repeatable', repeatable)
    .option('--subscriber <name>', 'notify: only to this subscriber')
    .option('--event <id>', 'notify: only this event; repeatable', repeatable)
    .option('--dead', 'notify: only events that ended without being sent')
    .option('--since <time>', 'received since: 48h, 7d, or a time with its zone', readTime('--since'))
    .option('--until <time>', 'received before', readTime('--until'))
    .option('--source <name>', 'only of this source')
    .option('--region <name>', 'only of this region')
    .option('--status <status>', 'only with this callback status')
    .option('--outcome <outcome>', 'only with this outcome, such as failed or noted')
    .option('--context <name=value>', 'only with this context')
    .option('--cause <code>', 'refetch: only jobs that fail for this cause, as `failures` lists it')
    .option('--reason <words>', 'reason, for the ledger')
    .option('--dry-run', 'show what would be replayed, change nothing')
    .option('--json', 'print one JSON document')
    .action(async (kind: ReplaySelector['kind'], options: Options) => {
      const selector = readSelector(kind, options);
      const dryRun = options.dryRun === true;
      const sends = selector.kind === 'notify' && !dryRun;
      const config = loadConfig(sends ? 'service and subscribers' : 'service');
      await withRecovery(config, { dryRun }, (work) => replay(work, selector, options));
    });
}

function readSelector(kind: ReplaySelector['kind'], options: Options): ReplaySelector {
  const { job, event, subscriber, dead, since, until, source, region, status, outcome } = options;
  checkJobs(job);
  for (const id of event ?? []) if (!isUlid(id)) throw new UsageError(`${id} is no event id`);
  return {
    kind,
    jobs: job,
    events: event,
    subscriber,
    dead,
    since: since?.toISOString(),
    until: until?.toISOString(),
    source,
    region,
    status,
    outcome,
    context: options.context,
    cause: options.cause,
  };
}

async function replay(work: RecoveryWork, selector: ReplaySelector, options: Options): Promise<void> {
  const { config } = work;
  const { view } = work;
  const { replays, outbox } = openReplays(work);
  await view.refresh();
  if (selector.kind === 'refetch' && selector.cause !== undefined) await view.untilComplete();
  try {
    await rejectUnknownNames(selector, filterNamesOf(config), view);
    if (options.dryRun) await preview(replays, selector, options.json === true);
    else await run(replays, selector, options, work);
  } finally {
    await outbox.stop();
  }
}

/** Singular and plural of the items of a replay. */
const ITEMS = {
  refetch: ['job', 'jobs'],
  release: ['body', 'bodies'],
  notify: ['event', 'events'],
} as const;

async function preview(replays: Replays, selector: ReplaySelector, json: boolean): Promise<void> {
  const { items, bytes, jobs } = await replays.preview(selector);
  const [one, many] = ITEMS[selector.kind];
  if (json) printJson({ count: items.length, bytes, jobs: jobs.slice(0, 100) });
  else if (items.length === 0) printLines([`No ${one} matches.`]);
  else
    printLines([
      `${plural(items.length, one, many)} would be replayed, ${bytes} bytes, of these jobs`,
      ...jobs.slice(0, 100).map((id) => `  ${id}`),
    ]);
}

async function run(
  replays: Replays,
  selector: ReplaySelector,
  { reason = null, json }: { readonly reason?: string | null; readonly json?: true },
  { signal, progress }: Running,
): Promise<void> {
  const id = await replays.create(selector, { actor: CLI_ACTOR, reason });
  const show = ({ done, failed, total }: ReplayState) =>
    progress.show(`${done + failed} of ${total} replayed, ${failed} failed`);
  await replays.run(id, signal, show).finally(() => progress.end());
  const view = await replays.view(id);
  if (view === null) throw new Error('the replay is gone');
  if (json) printJson(view);
  else printLines([...formatReplay(view), ...view.failures.map(formatFailure)]);
  process.exitCode = view.state === 'done' && view.failed === 0 ? EXIT.ok : EXIT.incomplete;
}

function formatFailure({ jobId, outcome, reason }: ReplayFailure): string {
  return `${outcome.padEnd(13)} ${jobId}  ${reasonInWords(reason) ?? 'unknown reason'}`;
}

function formatReplay({ replayId, state, total, done, failed, outcomes }: Replay): string[] {
  return [
    `Replay ${replayId} is ${state}: ${done} of ${total} done, ${failed} failed`,
    ...Object.entries(outcomes).map(([outcome, count]) => `  ${outcome.padEnd(14)} ${count}`),
    ...stepsAfterReplay(outcomes).map(({ words, command }) => `${words} ${command}`),
    ...(state === 'interrupted'
      ? ['A receiver on the same store continues it, unless it is cancelled.']
      : []),
  ];
}

/** The replays, as on the admin port, and the outbox. Commands do not yield to callbacks. */
function openReplays({ config, parts, view }: RecoveryWork): { replays: Replays; outbox: Outbox } {
  const { store, archive, ledger } = parts;
  const outbox = openCommandOutbox(config, store);
  const quarantine = createQuarantineStore(store);
  const sources = new Map(Object.entries(config.sources));
  const replays = createReplays({
    recovery: parts,
    ledger,
    view,
    release: { quarantine, view, sources, archive, ledger },
    notify: { outbox, subscribers: new Map(Object.entries(config.subscribers)), view, store },
    replays: createReplayStore(store),
    owner: `${config.replicaName}-${CLI_ACTOR}`,
    busy: () => false,
  });
  return { replays, outbox };
}

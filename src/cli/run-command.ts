import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.js';
import { completeHelp } from './help-pages.js';
import { packageVersion } from './package-version.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printNotes } from './shared/format/print.js';

type LoadCommand = () => Promise<{ readonly createCommand: () => Command }>;

/** Each command is a file that is loaded only when it runs, so that the start is fast; hence the descriptions are here. */
export const COMMANDS: Readonly<Record<string, readonly [description: string, load: LoadCommand]>> = {
  serve: ['receive callbacks until a signal (default)', () => import('./serve.js')],
  reconcile: [
    'compare the finished jobs of the service with the store, and fetch missing results',
    () => import('./reconcile.js'),
  ],
  merge: [
    'merge the segments of whole hours of the ledger into compressed objects',
    () => import('./merge.js'),
  ],
  refetch: ['fetch missing results of one job of any age', () => import('./refetch.js')],
  status: [
    'show the health verdict of the dashboard, from the store and the configuration alone',
    () => import('./status.js'),
  ],
  job: [
    'show the state of a job, where its transcript is, the record of the service, and what to do',
    () => import('./job.js'),
  ],
  transcript: [
    "print a job's transcript or save it; the ledger records the access",
    () => import('./transcript.js'),
  ],
  deliveries: [
    'list deliveries and their outcomes, newest first, by the filters of the page',
    () => import('./deliveries.js'),
  ],
  summary: [
    'count deliveries, bytes, durations and failures, of any time and group',
    () => import('./summary.js'),
  ],
  failures: [
    'list the failing jobs; results that expire first at the service come first',
    () => import('./failures.js'),
  ],
  replay: [
    'refetch many jobs from the service, decode quarantined bodies again, or send events again',
    () => import('./replay.js'),
  ],
  verify: [
    'compare the store with the ledger: is every artefact there, with the recorded size and hash?',
    () => import('./verify.js'),
  ],
  quarantine: ['list the bodies that could not be decoded, newest first', () => import('./quarantine.js')],
  dismiss: [
    'settle a quarantined body that need not be released; it stays until it expires',
    () => import('./dismiss.js'),
  ],
  acknowledge: [
    'accept a conflict or a loss, of a job or of all jobs of a cause: it is listed again once it fails again',
    () => import('./acknowledge.js'),
  ],
  import: [
    'store files as results of a job, by the rules of a callback: all of them or none',
    () => import('./import.js'),
  ],
  choose: [
    'choose which version of an artefact counts; the others stay among the conflicts',
    () => import('./choose.js'),
  ],
  'copy-store': [
    'copy a store into another folder or bucket, with its erasures, ledger, events and quarantine',
    () => import('./copy-store.js'),
  ],
  erase: [
    'erase everything that is stored of jobs, old versions included; the ledger records each erasure',
    () => import('./erase.js'),
  ],
  'check-config': [
    'check the configuration and list every fault and warning',
    () => import('./check-config.js'),
  ],
  doctor: [
    'check configuration, store, service and public address, with advice',
    () => import('./doctor.js'),
  ],
  explain: ['explain how a callback would be handled', () => import('./explain.js')],
  reasons: [
    'explain what each code of a refusal or a failure means, and what to do',
    () => import('./reasons.js'),
  ],
  'notification-config': [
    'print the notification_config for jobs of a source, secrets included',
    () => import('./notification-config.js'),
  ],
  capture: [
    'transcribe a file or standard input live and archive the transcript',
    () => import('./capture.js'),
  ],
  simulate: [
    'run a simulator of the speech service: key service, jobs API per region, callbacks',
    () => import('./simulate.js'),
  ],
};

const DEFAULT_COMMAND = 'serve';

/** Runs the command that the arguments name; resolves when it has ended, or when the receiver runs. */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    await parseAndRun(args);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

async function parseAndRun(args: readonly string[]): Promise<void> {
  const wanted = commandNamed(args);
  const program = new Command('transcript-receiver')
    .description('The callback URL that never loses a transcript.')
    .version(packageVersion(), '-V, --version')
    .helpCommand('help [command]', 'show a command in detail, with examples');
  completeHelp(program);
  for (const [name, [description, load]] of Object.entries(COMMANDS)) {
    const command = name === wanted ? completeHelp((await load()).createCommand()) : new Command(name);
    program.addCommand(command.description(description), { isDefault: name === DEFAULT_COMMAND });
  }
  exitByThrowing(program);
  await program.parseAsync(args, { from: 'user' });
}

/** The command that the arguments name, also after `help`; by default `serve`. */
function commandNamed(args: readonly string[]): string {
  const named = args.find((argument) => argument !== 'help' && !argument.startsWith('-'));
  if (named === undefined) return DEFAULT_COMMAND;
  if (Object.hasOwn(COMMANDS, named)) return named;
  throw new UsageError(`unknown command ${named}; see --help`);
}

/** commander exits with 1 for wrong usage; here the exit code is 2. */
function exitByThrowing(command: Command): void {
  command.exitOverride();
  for (const subcommand of command.commands) exitByThrowing(subcommand);
}

function exitCodeOf(error: unknown): number {
  // commander has printed the message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const message = error instanceof Error ? error.message : String(error);
  printNotes(message);
  return error instanceof ConfigError || error instanceof UsageError ? EXIT.usage : EXIT.failed;
}

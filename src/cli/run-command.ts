import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.js';
import { nearest } from '../config/rules/nearest.js';
import { completeHelp } from './help-pages.js';
import { packageVersion } from './package-version.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printNotes } from './shared/format/print.js';

interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<{ readonly createCommand: () => Command }>;
}

/** Each command is one file, loaded only when it is needed, so that starting is fast. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  serve: { summary: 'receive callbacks until a signal (default)', load: () => import('./serve.js') },
  reconcile: {
    summary: 'compare with the service and fetch what is missing',
    load: () => import('./reconcile.js'),
  },
  merge: {
    summary: 'merge whole hours of the ledger into compressed objects',
    load: () => import('./merge.js'),
  },
  refetch: { summary: 'fetch missing results of one job', load: () => import('./refetch.js') },
  status: {
    summary: 'show the health verdict, from the store and the configuration alone',
    load: () => import('./status.js'),
  },
  job: {
    summary: 'show what is known of a job, and what to do',
    load: () => import('./job.js'),
  },
  transcript: {
    summary: "print a job's transcript or save it",
    load: () => import('./transcript.js'),
  },
  deliveries: {
    summary: 'list ledger lines by the filters of the page',
    load: () => import('./deliveries.js'),
  },
  summary: {
    summary: 'count what arrived and what was wrong, of any time and group',
    load: () => import('./summary.js'),
  },
  failures: { summary: 'list the jobs that are failing', load: () => import('./failures.js') },
  replay: {
    summary: 'refetch many jobs, decode quarantined bodies again, or send events again',
    load: () => import('./replay.js'),
  },
  subscribers: {
    summary: 'show how far each subscriber is, and what was not sent to it',
    load: () => import('./subscribers.js'),
  },
  verify: {
    summary: 'compare the store with the ledger, and report what is missing or damaged',
    load: () => import('./verify.js'),
  },
  quarantine: {
    summary: 'list the bodies that could not be decoded',
    load: () => import('./quarantine.js'),
  },
  dismiss: {
    summary: 'settle a quarantined body that need not be released',
    load: () => import('./dismiss.js'),
  },
  acknowledge: {
    summary: 'accept a conflict or a loss of a job',
    load: () => import('./acknowledge.js'),
  },
  import: { summary: 'store files as results of a job', load: () => import('./import.js') },
  choose: { summary: 'choose which version of an artefact counts', load: () => import('./choose.js') },
  'copy-store': {
    summary: 'copy a store into another folder or bucket',
    load: () => import('./copy-store.js'),
  },
  erase: { summary: 'erase all stored data of a job', load: () => import('./erase.js') },
  'check-config': {
    summary: 'check the configuration and list every fault and warning',
    load: () => import('./check-config.js'),
  },
  doctor: {
    summary: 'check configuration, store, service and public address, with advice',
    load: () => import('./doctor.js'),
  },
  explain: {
    summary: 'explain how a callback would be handled',
    load: () => import('./explain.js'),
  },
  reasons: {
    summary: 'explain what each code of a refusal or a failure means, and what to do',
    load: () => import('./reasons.js'),
  },
  'notification-config': {
    summary: 'print the notification_config for jobs of a source',
    load: () => import('./notification-config.js'),
  },
  capture: {
    summary: 'transcribe a file or standard input live and archive the transcript',
    load: () => import('./capture.js'),
  },
  simulate: {
    summary: 'run a simulator of the speech service',
    load: () => import('./simulate.js'),
  },
  demo: {
    summary: 'tour: a receiver and the simulator side by side on this machine',
    load: () => import('./demo.js'),
  },
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
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    if (name === wanted)
      program.addCommand(completeHelp((await load()).createCommand()), {
        isDefault: name === DEFAULT_COMMAND,
      });
    else program.command(name).summary(summary).description(summary);
  }
  exitByThrowing(program);
  await program.parseAsync(args, { from: 'user' });
}

/** The command that the arguments name, also after `help`; by default `serve`. */
function commandNamed(args: readonly string[]): string {
  const named = args.find((argument) => argument !== 'help' && !argument.startsWith('-'));
  if (named === undefined) return DEFAULT_COMMAND;
  if (Object.hasOwn(COMMANDS, named)) return named;
  const guess = nearest(named, Object.keys(COMMANDS));
  throw new UsageError(
    `unknown command ${named}${guess === null ? '; see --help' : `; did you mean ${guess}?`}`,
  );
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

import { Command, Option } from 'commander';
import type { TranscriptFormat } from '../domain/kinds.js';
import { isConflict, otherVersions } from '../domain/next-steps.js';
import { terminalText } from '../lib/text/terminal-text.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { standardOutput } from './shared/format/standard-output.js';
import { type LedgerWork, withLedger } from './shared/on-store/with-ledger.js';
import { checkJobs } from './shared/options/check-jobs.js';
import { reportUnreadableStore } from './shared/report-unreadable-store.js';
import { copyTranscript } from './transcript/copy-transcript.js';
import {
  findTranscripts,
  formatOf,
  type StoredTranscript,
  TRANSCRIPT_FORMATS,
} from './transcript/find-transcripts.js';
import { outputTo, outputToFile } from './transcript/transcript-output.js';

interface Options {
  readonly kind?: TranscriptFormat;
  readonly key?: string;
  readonly output?: string;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('transcript')
    .argument('<job>', 'its id')
    .addOption(
      new Option('--kind <kind>', 'its form; default: the first of these that is stored').choices(
        TRANSCRIPT_FORMATS,
      ),
    )
    .option('--key <key>', 'this version, by its whole key, as `job` shows it')
    .option('--output <file>', 'save the bytes as this new file instead of printing them')
    .option('--json', 'with --output: print what was saved as one JSON document')
    .action(async (jobId: string, options: Options) => {
      checkJobs([jobId]);
      if (options.kind && options.key) throw new UsageError('--kind and --key exclude each other');
      if (options.json && !options.output) throw new UsageError('--json needs --output');
      const exitCode = await withLedger((work) => run(work, jobId, options)).catch(reportUnreadableStore);
      if (exitCode !== null) process.exitCode = exitCode;
    });
}

async function run(work: LedgerWork, jobId: string, { kind, key, output, json }: Options): Promise<number> {
  const { store, view } = work;
  const { keyPrefixes } = work.config;
  const isWanted = (each: StoredTranscript) =>
    key === undefined ? !isConflict(each) && (kind ?? formatOf(each)) === formatOf(each) : each.key === key;
  let found = await findTranscripts(store, keyPrefixes, jobId);
  let wanted = found.find(isWanted);
  if (wanted === undefined) {
    // Loaded on demand: most calls find a transcript without it.
    const { otherPrefixesOf } = await import('../operations/actions/other-prefixes.js');
    await view.refresh();
    const prefixes = await otherPrefixesOf({ keyPrefixes, view }, jobId, null);
    found = [...found, ...(await findTranscripts(store, prefixes, jobId))];
    wanted = found.find(isWanted);
    if (wanted === undefined) return listOthers(jobId, found);
  }
  const file = output === undefined || output === '-' ? null : output;
  const target = file === null ? outputTo(standardOutput) : await outputToFile(file);
  const fault = await copyTranscript(work, jobId, wanted, target);
  if (fault !== null) {
    note(file === null ? fault : `${fault}; ${file} was not saved`);
    return EXIT.unrecoverable;
  }
  const { info: _info, ...artefact } = wanted;
  if (json) printJson({ jobId, file, ...artefact });
  else if (file !== null) printLines([`Saved ${wanted.key} (${wanted.size} bytes) as ${file}.`]);
  const others = isConflict(wanted) ? [] : otherVersions(found);
  if (others.length > 0)
    note(
      `other versions are kept, see transcript-receiver job ${jobId}: ${others.map((each) => each.key).join(', ')}`,
    );
  return EXIT.ok;
}

/** Lists the other stored forms and versions, else names the command that explains the job. */
function listOthers(jobId: string, found: readonly StoredTranscript[]): number {
  if (found.length > 0) {
    note(`${jobId} has no such transcript; these are stored:`);
    note(...found.map((each) => `  ${formatOf(each).padEnd(8)}  --key ${each.key}`));
  } else note(`No transcript of ${jobId} was found: transcript-receiver job ${jobId} says why.`);
  return EXIT.failed;
}

function note(...lines: string[]): void {
  for (const line of lines) process.stderr.write(`${terminalText(line)}\n`);
}

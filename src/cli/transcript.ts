import { createHash } from 'node:crypto';
import { Command, Option } from 'commander';
import { openLedgerWriter } from '../app/open-ledger-writer.js';
import type { TranscriptFormat } from '../domain/kinds.js';
import { isConflict, otherVersions } from '../domain/next-steps.js';
import { terminalText } from '../lib/text/terminal-text.js';
import { createAccessLedger } from '../operations/admin/access/access-ledger.js';
import { CLI_ACTOR } from './shared/cli-actor.js';
import { couldNotLook } from './shared/could-not-look.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { standardOutput } from './shared/format/standard-output.js';
import { proveForWriting } from './shared/on-store/prove-for-writing.js';
import { type LedgerWork, withLedger } from './shared/on-store/with-ledger.js';
import { checkJobs } from './shared/options/check-jobs.js';
import {
  findTranscripts,
  formatOf,
  type StoredTranscript,
  TRANSCRIPT_FORMATS,
} from './transcript/find-transcripts.js';
import { outputTo, outputToFile, type TranscriptOutput } from './transcript/transcript-output.js';

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
      const exitCode = await withLedger((work) => run(work, jobId, options)).catch(couldNotLook);
      if (exitCode !== null) process.exitCode = exitCode;
    });
}

async function run(work: LedgerWork, jobId: string, { kind, key, output, json }: Options): Promise<number> {
  const { config, store } = work;
  const isWanted = (each: StoredTranscript) =>
    key === undefined ? !isConflict(each) && (kind ?? formatOf(each)) === formatOf(each) : each.key === key;
  let found = await findTranscripts(store, config.keyPrefixes, jobId);
  let wanted = found.find(isWanted);
  if (wanted === undefined) {
    // Most calls find a transcript, and need none of this.
    const { explainAbsence } = await import('./transcript/explain-absence.js');
    const { otherPrefixes, explanation } = await explainAbsence(work, jobId);
    found = [...found, ...(await findTranscripts(store, otherPrefixes, jobId))];
    wanted = found.find(isWanted);
    if (wanted === undefined) return sayWhatIsThere(jobId, found, explanation);
  }
  const file = output === undefined || output === '-' ? null : output;
  const target = file === null ? outputTo(standardOutput) : await outputToFile(file);
  const fault = await copy(work, jobId, wanted, target);
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

/** Other forms and versions, or what became of the job. */
function sayWhatIsThere(
  jobId: string,
  found: readonly StoredTranscript[],
  explanation: readonly string[],
): number {
  if (found.length > 0) {
    note(`${jobId} has no such transcript; these are stored:`);
    note(...found.map((each) => `  ${formatOf(each).padEnd(8)}  --key ${each.key}`));
  } else note(...explanation);
  return EXIT.failed;
}

function note(...lines: string[]): void {
  for (const line of lines) process.stderr.write(`${terminalText(line)}\n`);
}

/**
 * Copies a transcript in bounded memory, after the ledger holds the access. Returns what is wrong with what was copied; throws when
 * nothing could be.
 */
async function copy(
  { config, store, signal }: LedgerWork,
  jobId: string,
  { key, kind, size, sha256, info }: StoredTranscript,
  target: TranscriptOutput,
): Promise<string | null> {
  const hash = createHash('sha256');
  let copied = 0;
  try {
    await proveForWriting(config, store);
    const access = { actor: CLI_ACTOR };
    const item = { key, kind, size, sha256: sha256 ?? '' };
    const source = info.metadata.source ?? null;
    const ledger = openLedgerWriter(config, store);
    await createAccessLedger(ledger)
      .read({ access, peer: undefined, jobId, source, item })
      .finally(ledger.close);
    const reading = await store.read(key, null, 'download');
    if (reading === null) throw new Error(`${key} is gone`);
    signal.addEventListener('abort', () => reading.body.destroy(new Error('interrupted')), { once: true });
    for await (const chunk of reading.body) {
      hash.update(chunk);
      await target.write(chunk);
      copied += chunk.length;
    }
    const actual = hash.digest('hex');
    if (sha256 === null || sha256 === actual) {
      await target.end();
      return null;
    }
    await target.discard();
    return `${key} is damaged: its SHA-256 is ${actual}, on record is ${sha256}`;
  } catch (error) {
    await target.discard();
    if (copied === 0) throw error;
    return `${key} broke off after ${copied} of ${size} bytes: ${error instanceof Error ? error.message : String(error)}`;
  }
}

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { EMPTY_STORE, isEmptyStore } from '../archive/erasure/empty-store.js';
import { erasureKey } from '../archive/layout.js';
import { loadConfig } from '../config/config.js';
import { type ImportForm, importArtefacts } from '../operations/actions/import/import-artefacts.js';
import type { Taken } from '../operations/answers/jobs.js';
import { CLI_ACTOR } from './shared/cli-actor.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines, printNotes } from './shared/format/print.js';
import { checkJobs } from './shared/options/check-jobs.js';
import { checkSource } from './shared/options/check-source.js';
import { withRecovery } from './shared/with-recovery.js';

interface Options {
  readonly kind?: string;
  readonly source?: string;
  readonly status?: string;
  readonly context?: string;
  readonly otherJob?: true;
  readonly reason?: string;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('import')
    .argument('<job>', 'id of the job')
    .argument('<files...>', 'the files; each is recognised by its content and name')
    .option('--kind <kind>', 'kind of all files, such as transcript, transcript.txt or data')
    .option('--source <name>', 'source of the job; needed when there are several')
    .option('--status <status>', 'callback status of the job')
    .option('--context <query>', 'context as in the callback URL, such as call=123&customer=acme')
    .option('--other-job', 'also transcripts and job records that name another job')
    .option('--reason <words>', 'reason, for the ledger')
    .option('--json', 'print the result as one JSON document')
    .action(async (jobId: string, files: readonly string[], { json, ...fields }: Options) => {
      checkJobs([jobId]);
      const result = await importFiles(jobId, files, fields);
      if (json) printJson(result);
      else printLines(formatImport(result));
      if (result.outcome === 'conflict') process.exitCode = EXIT.incomplete;
    });
}

async function importFiles(
  jobId: string,
  files: readonly string[],
  fields: Omit<Options, 'json'>,
): Promise<Taken> {
  await rejectErasedThere(jobId, files);
  const form = await openForm(files, fields);
  return withRecovery(loadConfig('service'), { dryRun: false }, async ({ config, parts }) => {
    checkSource(config, fields.source);
    if (isCopyOfStore(jobId, files) && (await isEmptyStore(parts.store))) printNotes(EMPTY_STORE);
    const sources = new Map(Object.entries(config.sources));
    const request = { jobId, actor: CLI_ACTOR, clientIp: null };
    return importArtefacts({ ...parts, sources }, form, request);
  });
}

/**
 * Throws `UsageError` if a folder above any of the files has a mark of erasure for the job: files may come from the folder of another
 * store, and a job erased there stays erased.
 */
async function rejectErasedThere(jobId: string, files: readonly string[]): Promise<void> {
  const folders = new Set(files.flatMap((file) => foldersAbove(resolve(file))));
  for (const folder of folders) {
    const mark = join(folder, erasureKey(jobId));
    if (await stat(mark).catch(() => null))
      throw new UsageError(
        `${jobId} was erased in the store that the files come from (${mark}): it is not stored again`,
      );
  }
}

/** Whether a path has the layout of a store: a whole store may be imported job by job. */
function isCopyOfStore(jobId: string, files: readonly string[]): boolean {
  return files.some((file) => resolve(file).includes(`/jobs/${jobId}/`));
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/** Presents the files as an upload form. Throws `UsageError` for a path that is not a file. */
async function openForm(
  files: readonly string[],
  { otherJob, ...others }: Omit<Options, 'json'>,
): Promise<ImportForm> {
  const sizes = await Promise.all(files.map(sizeOf));
  let failed: Error | null = null;
  return {
    expectedBytes: sizes.reduce((sum, size) => sum + size, 0),
    fields: () => ({ ...others, ...(otherJob && { otherJob: 'true' }) }),
    async read(sink) {
      for (const path of files) {
        if (failed !== null) throw failed;
        const stream = createReadStream(path);
        const file = { fieldName: 'file', fileName: basename(path), contentType: 'application/octet-stream' };
        await sink.add({ ...file, stream }).finally(() => stream.destroy());
      }
    },
    fail(error) {
      failed = error;
    },
  };
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  if (found?.isFile()) return found.size;
  throw new UsageError(`${path} is not a readable file`);
}

function formatImport({ jobId, outcome, items }: Taken): string[] {
  return [
    `${jobId}: ${outcome}`,
    ...items.map(
      ({ kind, key, size, outcome: each }) => `  ${each.padEnd(9)}  ${kind}  ${size} bytes  ${key}`,
    ),
    ...(outcome === 'conflict'
      ? [`The first version still counts. See: transcript-receiver job ${jobId}`]
      : []),
  ];
}

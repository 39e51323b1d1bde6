import { Command } from 'commander';
import { storeProofTarget } from '../app/store/store-proof-target.js';
import { type Config, loadConfig } from '../config/config.js';
import { count } from '../lib/text/plural.js';
import { hasContent } from '../operations/actions/copy/copied-places.js';
import type { CopyReport } from '../operations/actions/copy/copy-report.js';
import { copyStore } from '../operations/actions/copy/copy-store.js';
import { copyFault } from '../operations/actions/copy/copy-target.js';
import { oldestCanary } from '../operations/health/replica-reports.js';
import { proveStore } from '../store/probe/store-proof.js';
import { conditionOf } from '../store/store-condition.js';
import { copiedAges } from './copy/copied-ages.js';
import { formatCopyReport } from './copy/format-copy-report.js';
import { type BothOptions, type BothStores, openBothStores, optionsOfBoth } from './copy/open-both-stores.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines, printNotes } from './shared/format/print.js';
import { type Running, runOnStore } from './shared/on-store/run-on-store.js';
import { reasonUnlessUsage } from './shared/report-unreadable-store.js';

interface Options {
  readonly fromConfig?: string;
  readonly deep?: boolean;
  readonly acceptMissing?: boolean;
  readonly json?: true;
}

const ABOUT = `
Both are addresses as store.url has them; the settings below store.s3 hold for both. Run it again to continue, or to bring
the copy to what <from> has by then: what <from> does not have any more is removed from the copy. <from> may be served
until the last run. It is not changed, but for whole hours of its ledger, which are merged. <to> is empty, or an earlier
copy that was never served; a receiver on it takes nothing before the copy is whole.`;

export function createCommand(): Command {
  return new Command('copy-store')
    .addHelpText('after', ABOUT)
    .argument('<from>', 'such as file:./data')
    .argument('<to>', 'such as s3://bucket/prefix')
    .option(
      '--from-config <folder>',
      'the settings of <from> are below store in the configuration of this folder',
    )
    .option('--deep', 'compare all bytes at the end, by reading both')
    .option('--accept-missing', 'let the copy be served without the objects that could not be copied')
    .option('--json', 'print the report as one JSON document')
    .action(async (from: string, to: string, options: Options) => {
      const config = loadConfig('store');
      const both = optionsOfBoth(config, { from, to }, options.fromConfig ?? null);
      try {
        await copyAndReport(config, both, options);
      } catch (error) {
        const reason = reasonUnlessUsage(error);
        const bucket =
          conditionOf(error) === 'missing' ? 'A bucket to copy into has to be made before. ' : '';
        printNotes(`${reason}\n${bucket}Correct this, then run the same command again: it continues.`);
        process.exitCode = EXIT.incomplete;
      }
    });
}

async function copyAndReport(config: Config, both: BothOptions, options: Options): Promise<void> {
  const report = await runOnStore(
    config,
    async (advice) => {
      const stores = await openBothStores(both, advice);
      return { ...stores, store: stores.from };
    },
    (stores, running) => run(config, stores, { ...options, ...running }),
    { mayBegin: true },
  );
  if (report === null) {
    printNotes(`${both.from.url} holds nothing to copy`);
    process.exitCode = EXIT.failed;
    return;
  }
  const ages = report.finished ? await copiedAges(config, both.to) : [];
  if (options.json) printJson({ ...report, ages });
  else printLines(formatCopyReport(report, ages));
  if (report.faultCount > 0 || report.interrupted) process.exitCode = EXIT.unrecoverable;
}

async function run(
  config: Config,
  { from, to }: BothStores,
  { deep = false, acceptMissing = false, signal, progress }: Options & Running,
): Promise<CopyReport | null> {
  const canaryAge = oldestCanary(config.store.canaryInterval);
  const fault = await copyFault(from, to, canaryAge);
  if (fault !== null) throw new UsageError(fault);
  if (!(await hasContent(from))) return null;
  // Without `identify`: the probe must neither create a marker when there is nothing to copy nor finish an unfinished copy.
  await proveStore({ ...storeProofTarget(config, to), identify: async () => {} });
  return copyStore({
    from,
    to,
    deep,
    acceptMissing,
    canaryAge,
    signal,
    onProgress: (step, report) => progress.show(`${step}: ${stateOf(report)}`),
  });
}

function stateOf({ copied, bytes, there, verified, faultCount }: CopyReport): string {
  const faults = faultCount === 0 ? '' : `, ${count(faultCount)} not`;
  return `${count(copied)} objects, ${count(bytes)} bytes, ${count(there)} there already${faults}; ${count(verified)} verified`;
}

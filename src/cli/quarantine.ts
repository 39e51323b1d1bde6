import { Command, Option } from 'commander';
import { retentionViewOf } from '../app/retention-view-of.js';
import { UNDECODABLE_REASONS } from '../archive/content/decode-error.js';
import { createQuarantineStore } from '../archive/quarantine/quarantine-store.js';
import { QUARANTINE_STATES } from '../domain/quarantined-body.js';
import { reasonInWords, remedyFor } from '../domain/reasons.js';
import { notIndexedInWords, windowOfPage } from '../index/index-extent.js';
import { rejectUnknownNames } from '../index/questions/filter-names.js';
import { listQuarantine, type QuarantineQuery } from '../operations/admin/jobs/list-quarantine.js';
import type { ListedBody, QuarantineList } from '../operations/answers/quarantine.js';
import { filterNamesOf } from './shared/filter-names-of.js';
import { printJson, printLines } from './shared/format/print.js';
import { type TextColumn, textTable } from './shared/format/text-table.js';
import { withLedger } from './shared/on-store/with-ledger.js';
import { checkJobs } from './shared/options/check-jobs.js';
import { readUpTo } from './shared/options/read-number.js';
import { withFilters } from './shared/options/with-filters.js';

interface Options {
  readonly state: NonNullable<QuarantineQuery['state']>;
  readonly job?: string;
  readonly source?: string;
  readonly region?: string;
  readonly reason?: string;
  readonly limit: number;
  readonly json?: true;
}

export function createCommand(): Command {
  const command = new Command('quarantine')
    .addOption(
      new Option('--state <state>', 'which bodies').choices([...QUARANTINE_STATES, 'all']).default('waiting'),
    )
    .option('--job <id>', 'only of this job');
  return withFilters(command, ['source', 'region'])
    .addOption(new Option('--reason <reason>', 'why it could not be decoded').choices(UNDECODABLE_REASONS))
    .option('--limit <number>', 'bodies to list', readUpTo(500), 100)
    .option('--json', 'print one JSON document')
    .action(async (options: Options) => {
      const page = await list(options);
      if (options.json) printJson(page);
      else printLines(formatBodies(page, options.state));
    });
}

async function list({ json: _, ...query }: Options): Promise<QuarantineList> {
  const { job, source, region } = query;
  checkJobs(job === undefined ? undefined : [job]);
  return withLedger(async ({ config, store, view, signal }) => {
    await view.refresh();
    await rejectUnknownNames({ source, region }, filterNamesOf(config), view);
    const parts = {
      view,
      quarantine: createQuarantineStore(store),
      retained: retentionViewOf(config, store),
    };
    return listQuarantine(parts, { ...query, signal });
  });
}

const COLUMNS: readonly TextColumn<ListedBody>[] = [
  ['DELIVERY', 26, ({ deliveryId }) => deliveryId],
  ['STATE', 8, ({ state }) => state],
  ['RECEIVED', 24, ({ receivedAt }) => receivedAt],
  ['JOB', 10, ({ jobId }) => jobId],
  ['SOURCE', 8, ({ source }) => source],
  ['REASON', 0, ({ reason }) => reasonInWords(reason) ?? '-'],
];

function formatBodies({ quarantine, nextCursor, index }: QuarantineList, state: string): string[] {
  const which = state === 'all' ? 'in quarantine' : state;
  const note = notIndexedInWords(index, windowOfPage(nextCursor, quarantine.at(-1)?.receivedAt));
  const notes = note === null ? [] : [note];
  if (quarantine.length === 0)
    return [`No body is ${which}${note === null ? '' : ', as far as is known'}.`, ...notes];
  const count = `${quarantine.length}${nextCursor === null ? '' : ' and more'}`;
  return [
    `${count} ${quarantine.length === 1 ? 'body is' : 'bodies are'} ${which}.`,
    ...notes,
    '',
    ...textTable(COLUMNS, quarantine),
    ...remediesOf(quarantine.filter((body) => body.state === 'waiting')),
  ];
}

function remediesOf(waiting: readonly ListedBody[]): string[] {
  if (waiting.length === 0) return [];
  const reasons = [...new Set(waiting.map(({ reason }) => reason))];
  const remedies = reasons.flatMap((reason) => {
    const remedy = remedyFor(reason);
    return remedy === null ? [] : [`When ${reasonInWords(reason)}: ${remedy}`];
  });
  return [
    ...(remedies.length === 0 ? [] : ['', ...remedies]),
    'The commands for one of them: transcript-receiver job <job>',
  ];
}

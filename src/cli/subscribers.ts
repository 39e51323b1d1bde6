import { Command, Option } from 'commander';
import { describeAttempt, describePause, describeTold, describeUnsent } from '../domain/event-attempts.js';
import { EVENT_ENDS } from '../domain/sent-attempt.js';
import { hasAllUnsent, notIndexedInWords } from '../index/index-extent.js';
import type { LedgerView } from '../index/ledger-view.js';
import type { SentQuery } from '../index/sent/sent-questions.js';
import { span } from '../lib/text/amounts.js';
import { plural } from '../lib/text/plural.js';
import { createDeadEventCounter } from '../operations/admin/subscribers/count-dead-events.js';
import { listSubscribers } from '../operations/admin/subscribers/list-subscribers.js';
import { shownSent } from '../operations/admin/subscribers/shown-sent.js';
import type { SentEvents, SubscriberFigures } from '../operations/answers/subscribers.js';
import { describeIssue } from '../operations/issues/describe-issue.js';
import { createOutboxReader } from '../subscribers/outbox-reader.js';
import { UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { withLedger } from './shared/on-store/with-ledger.js';
import { readUpTo } from './shared/options/read-number.js';
import { readTime } from './shared/options/read-time.js';

interface Options {
  readonly limit: number;
  readonly events?: true;
  readonly job?: string;
  readonly outcome?: SentQuery['outcome'];
  readonly source?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly json?: true;
}

/** Status without the address: commands that send nothing do not read it, since it may hold a secret. */
interface Listed extends Omit<SubscriberFigures, 'url'> {
  /** Attempted events, newest first; null unless they were asked for. */
  readonly sentEvents: SentEvents['events'] | null;
}

export function createCommand(): Command {
  return new Command('subscribers')
    .argument('[subscriber]', 'only this one')
    .option('--limit <number>', 'events to list of each', readUpTo(1000), 20)
    .option('--events', 'list what was sent, with each answer, newest first')
    .option('--job <id>', 'with --events: of this job')
    .addOption(
      new Option('--outcome <outcome>', 'with --events: what became of them').choices([
        ...EVENT_ENDS,
        'waiting',
      ]),
    )
    .option('--source <name>', 'with --events: of this source')
    .option(
      '--since <time>',
      'with --events: tried since then: 30m, 24h, 7d or ISO 8601',
      readTime('--since'),
    )
    .option('--until <time>', 'with --events: tried before then', readTime('--until'))
    .option('--json', 'print one JSON document')
    .action(async (name: string | undefined, options: Options) => {
      const { subscribers, index } = await list(name, options);
      if (options.json) return printJson({ subscribers, index });
      const note = notIndexedInWords(index, {});
      const isAll = hasAllUnsent(index, Date.now());
      printLines([...formatSubscribers(subscribers, isAll), ...(note === null ? [] : [note])]);
    });
}

async function list(name: string | undefined, options: Options) {
  return withLedger(async ({ config, store, view }) => {
    const known = Object.keys(config.subscribers);
    if (name !== undefined && !known.includes(name))
      throw new UsageError(
        `unknown subscriber ${name}; ${known.length === 0 ? 'none is configured' : `known are ${known.join(', ')}`}`,
      );
    const outbox = createOutboxReader(store, config.subscribers);
    const countDead = createDeadEventCounter(store, view.sent);
    const all = await listSubscribers({ outbox, view, countDead, fresh: view.refresh });
    const wanted = all.filter((one) => name === undefined || one.name === name);
    const subscribers = await Promise.all(
      wanted.map(
        async ({ url: _, ...one }): Promise<Listed> => ({
          ...one,
          sentEvents: options.events ? await sentTo(view, one.name, options) : null,
        }),
      ),
    );
    return { subscribers, index: view.extent() };
  });
}

async function sentTo(
  view: Pick<LedgerView, 'sent'>,
  subscriber: string,
  { job, outcome, source, since, until, limit }: Options,
): Promise<SentEvents['events']> {
  const range = { since: since?.toISOString(), until: until?.toISOString() };
  const { events } = await view.sent.page({ subscriber, job, outcome, source, ...range, limit });
  return events.map(shownSent);
}

function formatSubscribers(subscribers: readonly Listed[], isAll: boolean): string[] {
  if (subscribers.length === 0) return ['No subscriber is configured.'];
  return subscribers.flatMap((one, index) => [...(index === 0 ? [] : ['']), ...formatOne(one, isAll)]);
}

function formatOne(subscriber: Listed, isAll: boolean): string[] {
  const { name, events, sources, issues, retrying, sentEvents } = subscriber;
  const of = sources.length === 0 ? '' : ` of ${sources.join(', ')}`;
  return [
    `${name}: ${events.join(', ')}${of}`,
    ...(subscriber.stateDamaged ? [] : figuresOf(subscriber, isAll)),
    ...issues.flatMap((issue) => {
      const { text, remedy } = describeIssue(issue);
      return [`  ${text}`, ...(remedy === null ? [] : [`    ${remedy}`])];
    }),
    ...(retrying === 0 || sentEvents !== null
      ? []
      : [`  Those that wait: transcript-receiver subscribers ${name} --events --outcome waiting`]),
    ...(sentEvents === null ? [] : ['  Events that were tried, newest first', ...sentEvents.map(sentRow)]),
  ];
}

function figuresOf(subscriber: Listed, isAll: boolean): string[] {
  const { sender, sent, lastSentAt, lagSeconds, lastError } = subscriber;
  const pause = describePause(subscriber, Date.now());
  const last = lastSentAt === null ? '' : `, the last at ${lastSentAt}`;
  const lag = lagSeconds === 0 ? '' : `; the oldest has waited for ${span(lagSeconds * 1000)}`;
  return [
    `  ${plural(sent, 'event')} sent${last}; ${describeUnsent(subscriber, isAll)}${lag}`,
    sender === null ? '  No replica sends to it.' : `  Sent by ${sender}`,
    ...(pause === null ? [] : [`  ${pause}.`]),
    ...(lastError === null ? [] : [`  Last error at ${lastError.at}: ${describeAttempt(lastError)}`]),
  ];
}

function sentRow(event: SentEvents['events'][number]): string {
  return `    ${event.jobId}  ${event.event}  ${describeTold(event)} (${event.type})`;
}

import { pathToFileURL } from 'node:url';
import { eventOfLine, hasNewItems, isRepetition } from '../domain/announced-event.js';
import type { LedgerLine } from '../domain/delivery.js';
import { isUlid } from '../lib/text/id-cursor.js';
import type { JobEvent, ReceiverEvent } from './receiver-event.js';

type JobEventType = JobEvent['type'];

/**
 * The event of a ledger line; null when it has none. The table is in docs/decisions/outbox.md.
 *
 * @param location of the store
 */
export function jobEventOf(line: LedgerLine, location: string): JobEvent | null {
  return isRepetition(line) ? null : eventOf(line, location);
}

/** Like `jobEventOf`, also for repetitions. */
export function eventOf(line: LedgerLine, location: string): JobEvent | null {
  const { deliveryId, jobId, source, region, status, origin, context, items } = line;
  const type = eventOfLine(line);
  // Keys contain the id, and a ledger that was edited by hand may hold any text.
  if (type === null || jobId === null || !isUlid(deliveryId)) return null;
  return {
    specversion: '1.0',
    id: deliveryId,
    type: `transcript-receiver.${type}.v1` as JobEventType,
    source: source === null ? '/callbacks' : `/callbacks/${source}`,
    subject: jobId,
    time: line.receivedAt,
    datacontenttype: 'application/json',
    data: {
      jobId,
      source,
      region,
      status,
      origin,
      outcome: eventOutcome(line),
      context: context ?? {},
      ...decisionOf(line),
      items: items.flatMap(({ kind, key, size, sha256, outcome: result }) =>
        result === 'read' ? [] : [{ kind, key, uri: uriOf(location, key), size, sha256, outcome: result }],
      ),
    },
  };
}

/**
 * The outcome in the event, determined by the items. An event must be the same whether it is made from the line or, when only a repetition
 * was recorded, from the artefacts. Artefacts have their origin, but not that a replay fetched them or that another item failed.
 */
function eventOutcome({ outcome, origin, items }: LedgerLine): string {
  if (outcome === 'chosen' || outcome === 'unrecoverable' || !hasNewItems(items)) return outcome;
  if (items.some((item) => item.outcome === 'conflict')) return 'conflict';
  return origin === 'recovery' ? 'recovered' : 'stored';
}

/** Actor and reason of a choice; empty for other lines. */
function decisionOf({ outcome, actor, reason }: LedgerLine): Pick<JobEvent['data'], 'actor' | 'reason'> {
  if (outcome !== 'chosen') return {};
  return { ...(actor === undefined ? {} : { actor }), ...(reason === null ? {} : { reason }) };
}

export function isJobEvent(event: ReceiverEvent): event is JobEvent {
  return 'jobId' in event.data;
}

/** Name of the event as `subscribers.<name>.events` has it. */
export function eventName({ type }: Pick<ReceiverEvent, 'type'>): string {
  return type.slice('transcript-receiver.'.length, -'.v1'.length);
}

/** Events that a subscriber wants. */
export interface EventFilter {
  readonly events: readonly string[];
  /** Empty: all. */
  readonly sources: readonly string[];
}

/** Whether a subscriber wants the event. One without a source, such as of a job known only by its id, goes to subscribers of all sources. */
export function isWanted(event: JobEvent, { events, sources }: EventFilter): boolean {
  if (!events.includes(eventName(event))) return false;
  return sources.length === 0 || (event.data.source !== null && sources.includes(event.data.source));
}

function uriOf(location: string, key: string): string {
  if (!location.startsWith('file:')) return `${location.replace(/\/$/, '')}/${key}`;
  return pathToFileURL(`${location.slice('file:'.length)}/${key}`).href;
}

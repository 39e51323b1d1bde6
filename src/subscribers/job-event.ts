import { pathToFileURL } from 'node:url';
import { eventOfLine, hasNewItems, isRepetition } from '../domain/announced-event.js';
import type { LedgerLine } from '../domain/delivery.js';
import { isUlid } from '../lib/text/id-cursor.js';
import type { JobEvent, ReceiverEvent } from './receiver-event.js';

type JobEventType = JobEvent['type'];

/**
 * What a ledger line announces; null when that is nothing. The table is in docs/decisions/outbox.md.
 *
 * @param location of the store
 */
export function jobEventOf(line: LedgerLine, location: string): JobEvent | null {
  return isRepetition(line) ? null : eventOf(line, location);
}

/** Variant of `jobEventOf` that covers repetitions as well. */
export function eventOf(line: LedgerLine, location: string): JobEvent | null {
  const { deliveryId, jobId, source, region, status, origin, context, items } = line;
  const type = eventOfLine(line);
  // A ledger that was edited by hand may hold any text. The id becomes a part of keys.
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
 * What became of the items. An event is made of a line or, where a repetition is the only one, of the artefacts: these say where they came
 * from, and not that an operator's replay brought them or that another item failed.
 */
function eventOutcome({ outcome, origin, items }: LedgerLine): string {
  if (outcome === 'chosen' || outcome === 'unrecoverable' || !hasNewItems(items)) return outcome;
  if (items.some((item) => item.outcome === 'conflict')) return 'conflict';
  return origin === 'recovery' ? 'recovered' : 'stored';
}

/** Who chose a version, and why. */
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

/** What a subscriber asks for. */
export interface EventFilter {
  readonly events: readonly string[];
  /** Empty: all. */
  readonly sources: readonly string[];
}

/** Whether a subscriber asks for the event. One without a source, as of a job known only by its id, goes to those of all sources. */
export function isWanted(event: JobEvent, { events, sources }: EventFilter): boolean {
  if (!events.includes(eventName(event))) return false;
  return sources.length === 0 || (event.data.source !== null && sources.includes(event.data.source));
}

function uriOf(location: string, key: string): string {
  if (!location.startsWith('file:')) return `${location.replace(/\/$/, '')}/${key}`;
  return pathToFileURL(`${location.slice('file:'.length)}/${key}`).href;
}

import type { DatabaseSync } from 'node:sqlite';
import { announcedEvent, type JobEventName } from '../domain/announced-event.js';
import type { LedgerLine } from '../domain/delivery.js';
import { TEST_STATUS } from '../domain/job.js';
import { isReasonCode, type ReasonCode } from '../domain/reasons.js';
import { isUlid } from '../lib/text/id-cursor.js';

/** The fields of a line that can be filtered by. */
export interface LineClass {
  readonly id: number;
  readonly origin: string;
  readonly outcome: string;
  readonly source: string | null;
  readonly region: string | null;
  readonly status: string | null;
  readonly credential: string | null;
  /** A code; null also for free text of an operator or of the service. */
  readonly reason: ReasonCode | null;
  /** Name of the token of the operator who caused the line; null when none did. */
  readonly actor: string | null;
  /** The event that the line announces to subscribers. */
  readonly event: JobEventName | null;
}

export type LineClasses = ReturnType<typeof createLineClasses>;

type Fields = Omit<LineClass, 'id'>;

/** Readers of the fields. A line that was edited by hand can hold anything. */
const READERS: { readonly [Name in keyof Fields]: (line: LedgerLine) => Fields[Name] } = {
  origin: ({ origin }) => origin,
  outcome: ({ outcome }) => outcome,
  source: ({ source }) => textOrNull(source),
  region: ({ region }) => textOrNull(region),
  status: ({ status }) => textOrNull(status),
  credential: ({ credential }) => textOrNull(credential),
  reason: ({ reason }) => (isReasonCode(reason) ? reason : null),
  actor: ({ actor }) => (actor === undefined ? null : String(actor)),
  event: (line) => (isUlid(line.deliveryId) ? announcedEvent(line) : null),
};

/** Order of the fields in a row of `classes`, which is part of the layout of the index. */
export const CLASS_FIELDS = Object.keys(READERS) as readonly (keyof Fields)[];

/** `noted`: a job without a transcript whose callback was lost. */
const MISSED: readonly string[] = ['recovered', 'noted', 'failed', 'unrecoverable'];

/** Whether a line records a missed callback: a recovery that no operator started fetched the results, or tried to. */
export function isMissed({ origin, outcome, actor }: LineClass): boolean {
  return origin === 'recovery' && actor === null && MISSED.includes(outcome);
}

/** Whether a line records a callback of a job that was answered 2xx. */
export function isAccepted(line: LineClass): boolean {
  return isCallbackOfJob(line) && line.outcome !== 'refused';
}

/** Whether a line records a callback of a job that was rejected. */
export function isRefused(line: LineClass): boolean {
  return isCallbackOfJob(line) && line.outcome === 'refused';
}

/** Test callbacks of `doctor` say nothing of those that the service sends: it uses the receiver's own secret. */
function isCallbackOfJob({ origin, status }: LineClass): boolean {
  return origin === 'callback' && status !== TEST_STATUS;
}

/**
 * SQL condition for lines `l` of missed callbacks: no earlier callback brought the same kinds. Results that are fetched because the store
 * lost them are no missed callback. The plus keeps SQLite from seeking each class of a job separately.
 */
export function notBroughtBefore(classes: LineClasses): string {
  const accepted = idsOf(classes.all().filter(isAccepted));
  return `(l.kinds = 0 OR NOT EXISTS (SELECT 1 FROM lines a WHERE a.job = l.job AND +a.class IN (${accepted})
    AND a.received < l.received AND a.kinds & l.kinds = l.kinds))`;
}

/** Ids of classes as an SQL list. */
export function idsOf(classes: readonly LineClass[]): string {
  return classes.map(({ id }) => id).join(', ');
}

/** The classes of an index, all cached in memory. */
export function createLineClasses(database: DatabaseSync) {
  const byFields = new Map<string, LineClass>();
  const byId = new Map<number, LineClass>();
  const insert = database.prepare('INSERT INTO classes (fields) VALUES (?)');
  const select = database.prepare('SELECT id, fields FROM classes');

  function add(id: number, fields: string): LineClass {
    const values: unknown[] = JSON.parse(fields);
    const named = Object.fromEntries(CLASS_FIELDS.map((name, at) => [name, values[at]])) as unknown as Fields;
    const added = { id, ...named };
    byFields.set(fields, added);
    byId.set(id, added);
    return added;
  }

  function reload(): void {
    byFields.clear();
    byId.clear();
    for (const { id, fields } of select.all()) add(Number(id), String(fields));
  }

  reload();
  return {
    of(line: LedgerLine): LineClass {
      const fields = fieldsOf(line);
      return byFields.get(fields) ?? add(Number(insert.run(fields).lastInsertRowid), fields);
    },
    byId(id: number): LineClass {
      const known = byId.get(id);
      if (known === undefined) throw new Error(`the index has no class ${id}`);
      return known;
    },
    all: () => [...byId.values()],
    /** Call it after a rollback, and before reading an index that another process writes. */
    reload,
  };
}

function fieldsOf(line: LedgerLine): string {
  return JSON.stringify(CLASS_FIELDS.map((name) => READERS[name](line)));
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

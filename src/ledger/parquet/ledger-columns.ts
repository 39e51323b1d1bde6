import type { ConvertedType, ParquetType, SchemaElement } from 'hyparquet';
import type { LedgerItem, LedgerLine } from '../../domain/delivery.js';
import { parseLine } from '../parse-segment.js';

/** A line as the columns of a Parquet file hold it (docs/ledger.md). */
interface LedgerRecord {
  /** The store's time of its segment, in milliseconds since the epoch. */
  readonly writtenAt: number;
  readonly deliveryId: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly origin: string;
  readonly source: string | null;
  readonly region: string | null;
  readonly jobId: string | null;
  readonly status: string | null;
  readonly outcome: string;
  /** JSON. */
  readonly context: string | null;
  readonly credential: string | null;
  readonly bytes: number;
  readonly durationMs: number;
  readonly clientIp: string | null;
  readonly method: string | null;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly wouldRefuse: string | null;
  /** JSON. */
  readonly contextOmitted: string | null;
  readonly items: readonly LedgerItem[];
  /** JSON. */
  readonly shape: string | null;
  /** JSON object of the fields that have no column; null without any. */
  readonly extra: string | null;
  /** The whole line as it was stored, when the other columns cannot give it back; null for almost all. */
  readonly raw: string | null;
  readonly v: number;
}

export type LedgerColumn = keyof LedgerRecord;

const column = (name: string, type: ParquetType, converted_type?: ConvertedType): SchemaElement => ({
  name,
  type,
  repetition_type: 'REQUIRED',
  ...(converted_type === undefined ? undefined : { converted_type }),
});
const text = (name: string) => column(name, 'BYTE_ARRAY', 'UTF8');
const nullableText = (name: string): SchemaElement => ({ ...text(name), repetition_type: 'OPTIONAL' });

const ITEM = [text('kind'), text('key'), column('size', 'INT64'), text('sha256'), text('outcome')];

/** The fields that lists and filters need come first, so that one range read fetches them without the others. */
const COLUMNS: readonly (readonly [SchemaElement, ...SchemaElement[]])[] = [
  [column('writtenAt', 'INT64', 'TIMESTAMP_MILLIS')],
  [text('deliveryId')],
  [column('receivedAt', 'INT64', 'TIMESTAMP_MILLIS')],
  [text('origin')],
  [nullableText('source')],
  [nullableText('region')],
  [nullableText('jobId')],
  [nullableText('status')],
  [text('outcome')],
  [nullableText('context')],
  [nullableText('credential')],
  [column('bytes', 'INT64')],
  [column('durationMs', 'DOUBLE')],
  [nullableText('clientIp')],
  [nullableText('method')],
  [nullableText('reason')],
  [nullableText('actor')],
  [nullableText('wouldRefuse')],
  [nullableText('contextOmitted')],
  [
    { name: 'items', repetition_type: 'REQUIRED', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'REQUIRED', num_children: ITEM.length },
    ...ITEM,
  ],
  [nullableText('shape')],
  [nullableText('extra')],
  [nullableText('raw')],
  [column('v', 'INT32')],
];

export const LEDGER_COLUMNS = COLUMNS.map(([{ name }]) => name) as LedgerColumn[];

/** Columns of some rows: an entry for every row in each. */
export type LedgerColumns<Column extends LedgerColumn = LedgerColumn> = {
  readonly [Name in Column]: readonly LedgerRecord[Name][];
};

/** The line of a row. */
export function decodeLine(columns: LedgerColumns, row: number): LedgerLine {
  const raw = columns.raw[row] ?? null;
  if (raw !== null) return parseLine(raw) as LedgerLine;
  return lineOf(<Column extends LedgerColumn>(name: Column) => columns[name][row] as LedgerRecord[Column]);
}

/** The line that the columns other than `raw` give. */
function lineOf(at: <Column extends LedgerColumn>(name: Column) => LedgerRecord[Column]): LedgerLine {
  const shape = at('shape');
  const actor = at('actor');
  const wouldRefuse = at('wouldRefuse');
  const context = at('context');
  const contextOmitted = at('contextOmitted');
  const extra = at('extra');
  return {
    v: 1,
    deliveryId: at('deliveryId'),
    receivedAt: new Date(at('receivedAt')).toISOString(),
    origin: at('origin') as LedgerLine['origin'],
    source: at('source'),
    region: at('region'),
    clientIp: at('clientIp'),
    method: at('method'),
    jobId: at('jobId'),
    status: at('status'),
    credential: at('credential'),
    outcome: at('outcome'),
    reason: at('reason'),
    items: at('items'),
    bytes: at('bytes'),
    durationMs: at('durationMs'),
    shape: shape === null ? null : JSON.parse(shape),
    ...(actor === null ? undefined : { actor }),
    ...(wouldRefuse === null ? undefined : { wouldRefuse }),
    ...(context === null ? undefined : { context: JSON.parse(context) }),
    ...(contextOmitted === null ? undefined : { contextOmitted: JSON.parse(contextOmitted) }),
    ...(extra === null ? undefined : JSON.parse(extra)),
  };
}

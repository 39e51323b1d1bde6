import { ACCESS_ORIGIN } from '../../domain/delivery.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { PlacedLine } from '../../ledger/log/read-lines-at.js';
import { idsOf } from '../line-classes.js';
import { JOIN_PLACE, PLACE, placeOfRow } from '../line-places.js';
import type { ReadableIndex } from '../readable-index.js';

export interface JobSearch {
  readonly text: string;
  /** `part`: a part of an id or of a context value, case-insensitive. */
  readonly match: 'whole' | 'part';
  /** Context names whose value a whole text can be; the text may begin with the name, as in `customer=acme`. */
  readonly names: readonly string[];
  readonly limit: number;
  readonly scope?: SourceScope;
}

export interface IndexedMatch {
  readonly by: 'id' | 'context';
  /** The newest line of the job that matches. */
  readonly place: PlacedLine;
}

/** Upper bounds for a part: context values that contain it, those with the newest lines first; and newest lines of each. */
const VALUES = 20;
const LINES_OF_VALUE = 500;

/** Jobs with this id or context value, those found by id first, each group ordered by newest line. Accesses do not count. */
export function matchJobs({ database, classes }: ReadableIndex, query: JobSearch): IndexedMatch[] {
  const { text, limit, scope = null } = query;
  const isPart = query.match === 'part';
  const wanted = idsOf(
    classes.all().filter(({ origin, source }) => origin !== ACCESS_ORIGIN && isInScope(scope, source)),
  );
  const find = (by: IndexedMatch['by'], from: string, value: string): IndexedMatch[] => {
    const rows = database.prepare(
      `SELECT ${PLACE} FROM (SELECT l.id, l.job, max(l.received) AS received ${from} AND l.job IS NOT NULL
         GROUP BY l.job ORDER BY 3 DESC, 2 LIMIT ?) f CROSS JOIN lines l ON l.id = f.id ${JOIN_PLACE}
       ORDER BY f.received DESC, f.job`,
    );
    return rows.all(value, limit).map((row) => ({ by, place: placeOfRow(row) }));
  };
  const pattern = `%${text.replaceAll(/[%_\\]/g, '\\$&')}%`;
  const isId = isPart ? `l.job LIKE ? ESCAPE '\\'` : 'l.job = ?';
  const isValue = isPart
    ? `value LIKE ? ESCAPE '\\'
         ORDER BY (SELECT max(written) FROM contexts c WHERE c.value = v.id AND c.class IN (${wanted})) DESC LIMIT ${VALUES}`
    : '(name, value) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))';
  const newestLines = `SELECT line FROM contexts c WHERE c.value = v.id AND c.class IN (${wanted})
    ORDER BY written DESC LIMIT ${LINES_OF_VALUE}`;
  return [
    // The plus keeps SQLite in the index of jobs, which has all columns: by class it would look up each line.
    ...find('id', `FROM lines l WHERE ${isId} AND +l.class IN (${wanted})`, isPart ? pattern : text),
    ...find(
      'context',
      `FROM (SELECT id FROM context_values v WHERE ${isValue}) v CROSS JOIN lines l WHERE l.id IN (${newestLines})`,
      isPart ? pattern : JSON.stringify(contextsOf(query)),
    ),
  ];
}

/** The contexts that a whole text can mean: it is a value of any name, or `name=value`. */
function contextsOf({ text, names }: JobSearch): [name: string, value: string][] {
  const contexts = names.map((name): [string, string] => [name, text]);
  const [, name = '', value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  return value !== undefined && names.includes(name) ? [...contexts, [name, value]] : contexts;
}

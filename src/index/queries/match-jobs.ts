import { ACCESS_ORIGIN } from '../../domain/delivery.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { PlacedLine } from '../../ledger/log/read-lines-at.js';
import type { AskedIndex } from '../asked-index.js';
import { idsOf } from '../line-classes.js';
import { JOIN_PLACE, PLACE, placeOfRow } from '../line-places.js';

export interface JobSearch {
  readonly text: string;
  /** `part`: of an id or of a value of the context, in whatever case. */
  readonly match: 'whole' | 'part';
  /** Names of the context whose values a whole text can be; it may begin with the name, as in `customer=acme`. */
  readonly names: readonly string[];
  readonly limit: number;
  readonly scope?: SourceScope;
}

export interface IndexedMatch {
  readonly by: 'id' | 'context';
  /** The newest line of the job that matches. */
  readonly place: PlacedLine;
}

/** Values that a part is found in, those with the newest lines first, and newest lines of each. */
const VALUES = 20;
const LINES_OF_VALUE = 500;

/** Jobs with this id or value of the context: those by id come first, each in the order of their newest lines. Accesses do not count. */
export function matchJobs({ database, classes }: AskedIndex, query: JobSearch): IndexedMatch[] {
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
  const [isId, isValue] = isPart
    ? [
        `l.job LIKE ? ESCAPE '\\'`,
        `value LIKE ? ESCAPE '\\'
           ORDER BY (SELECT max(written) FROM contexts c WHERE c.value = v.id AND c.class IN (${wanted})) DESC LIMIT ${VALUES}`,
      ]
    : ['l.job = ?', '(name, value) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))'];
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

function contextsOf({ text, names }: JobSearch): [name: string, value: string][] {
  return names.flatMap((name): [string, string][] => {
    const given = text.startsWith(`${name}=`) ? text.slice(name.length + 1) : '';
    return given === ''
      ? [[name, text]]
      : [
          [name, text],
          [name, given],
        ];
  });
}

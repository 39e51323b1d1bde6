import type { DatabaseSync } from 'node:sqlite';
import { isDelivery, type LedgerLine } from '../../domain/delivery.js';
import { ITEM_KINDS } from '../../domain/kinds.js';
import { settlesBodies, WANTED, wantsMetBy } from '../../domain/quarantined-body.js';
import { isUlid } from '../../lib/text/id-cursor.js';
import { createClassesOfJob } from '../apply/classes-of-job.js';
import type { JobLine } from '../apply/failure-rows.js';
import { numberOf } from '../apply/figure-sums.js';
import type { LineClasses } from '../line-classes.js';

/** Maintains the quarantined bodies and their states, independently of the order of lines. */
export function createBodyRows(database: DatabaseSync, classes: LineClasses) {
  const insert = database.prepare('INSERT INTO bodies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL)');
  const insertAct = database.prepare('INSERT INTO body_acts VALUES (?, ?, ?, ?)');
  const dismissalsOf = database.prepare(
    'SELECT id, received FROM body_acts WHERE delivery = ? AND NOT is_release',
  );
  const release = database.prepare(
    `UPDATE bodies SET released = (SELECT id FROM body_acts WHERE delivery = ?1 AND is_release ORDER BY received LIMIT 1)
     WHERE delivery = ?1`,
  );
  const dismiss = database.prepare(
    'UPDATE bodies SET settled = ?1, settled_at = ?2 WHERE delivery = ?3 AND coalesce(settled_at >= ?2, TRUE)',
  );
  const settle = database.prepare(
    `UPDATE bodies SET settled = ?1, settled_at = ?2
     WHERE job = ?3 AND (?4 IS NULL OR source = ?4) AND received <= ?2 AND coalesce(settled_at >= ?2, TRUE)`,
  );
  const markBrought = database.prepare(
    `UPDATE bodies SET missing = missing & ~?1
     WHERE job = ?2 AND (?3 IS NULL OR source = ?3) AND missing & ?1`,
  );
  const removeOfJob = database.prepare('DELETE FROM bodies WHERE job = ?');
  const sameMissing = database.prepare(
    'SELECT missing FROM bodies WHERE job = ? AND source IS ? AND wanted = ? LIMIT 1',
  );
  const kindsOfJob = database.prepare('SELECT DISTINCT class, kinds FROM lines WHERE job = ? AND kinds <> 0');
  const firstAfter = database.prepare(
    'SELECT id, received FROM lines WHERE job = ? AND class = ? AND received >= ? ORDER BY received LIMIT 1',
  );
  const classesOfJob = createClassesOfJob(database, classes);

  function missingOf(job: string, source: string | null, wanted: number): number {
    const known = sameMissing.get(job, source, wanted);
    if (known !== undefined) return Number(known.missing);
    let missing = wanted;
    for (const row of kindsOfJob.all(job)) {
      const of = classes.byId(Number(row.class)).source;
      if (of === null || of === source) missing &= ~Number(row.kinds);
    }
    return missing;
  }

  function addBody({ id, job, lineClass, received }: JobLine, line: LedgerLine): void {
    const { source } = lineClass;
    const jobClasses = [...classesOfJob(job)];
    if (jobClasses.some(({ outcome }) => outcome === 'erased')) return;
    const wanted = maskOf(Array.isArray(line.wanted) ? line.wanted : []) || ANY;
    const missing = missingOf(job, source, wanted);
    const { deliveryId } = line;
    insert.run(id, deliveryId, job, lineClass.id, source, received, numberOf(line.bytes), wanted, missing);
    release.run(deliveryId);
    for (const act of dismissalsOf.all(deliveryId))
      dismiss.run(Number(act.id), Number(act.received), deliveryId);
    for (const act of jobClasses) {
      if (settlesBodies(act) === null) continue;
      const first = firstAfter.get(job, act.id, received);
      if (first !== undefined) settle.run(Number(first.id), Number(first.received), job, act.source);
    }
  }

  return {
    /** Call it after the line was added. */
    add(line: JobLine & { readonly kinds: number }, ledgerLine: LedgerLine): void {
      const { id, job, lineClass, received, kinds } = line;
      const { outcome, source } = lineClass;
      if (outcome === 'quarantined' && isUlid(ledgerLine.deliveryId)) addBody(line, ledgerLine);
      if (outcome === 'erased') removeOfJob.run(job);
      if (kinds !== 0) markBrought.run(kinds, job, source);
      if (settlesBodies(lineClass) !== null) settle.run(id, received, job, source);
      if (outcome !== 'released' && outcome !== 'dismissed') return;
      const delivery = String(ledgerLine.body);
      insertAct.run(id, delivery, received, Number(outcome === 'released'));
      if (outcome === 'released') release.run(delivery);
      else dismiss.run(id, received, delivery);
    },
  };
}

const ANY = maskOf(['any']);

const WANTS_MET: ReadonlyMap<unknown, number> = new Map(
  ITEM_KINDS.map((kind) => [kind, maskOf(wantsMetBy(kind))]),
);

/** The wanted kinds that a line satisfies, as bits in the order of `WANTED`. A line that was edited by hand can hold anything. */
export function kindsOf({ origin, items }: LedgerLine): number {
  if (!isDelivery(origin) || !Array.isArray(items)) return 0;
  return items.reduce((mask, item) => mask | (WANTS_MET.get(item?.kind) ?? 0), 0);
}

function maskOf(names: readonly unknown[]): number {
  return WANTED.reduce((mask, name, bit) => (names.includes(name) ? mask | (1 << bit) : mask), 0);
}

import type { DatabaseSync } from 'node:sqlite';
import type { LineClass, LineClasses } from '../line-classes.js';

/** The classes of a job's lines, found by one seek each: a job can have any number of lines. */
export function createClassesOfJob(database: DatabaseSync, classes: LineClasses) {
  const nextClass = database.prepare('SELECT min(class) AS class FROM lines WHERE job = ? AND class > ?');
  return function* classesOfJob(job: string): Generator<LineClass> {
    for (let id = 0; ; ) {
      const next = nextClass.get(job, id)?.class ?? null;
      if (next === null) return;
      id = Number(next);
      yield classes.byId(id);
    }
  };
}

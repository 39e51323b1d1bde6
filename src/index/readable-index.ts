import type { DatabaseSync } from 'node:sqlite';
import type { LineClasses } from './line-classes.js';

/** What a question reads. */
export interface AskedIndex {
  readonly database: DatabaseSync;
  readonly classes: LineClasses;
}

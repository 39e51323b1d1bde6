import type { DatabaseSync } from 'node:sqlite';
import type { LineClasses } from './line-classes.js';

/** The part of an index that questions read. */
export interface ReadableIndex {
  readonly database: DatabaseSync;
  readonly classes: LineClasses;
}

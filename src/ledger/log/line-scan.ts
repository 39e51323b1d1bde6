import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { LinePlace } from './line-place.js';

export interface LineScan {
  readonly store: ObjectStore;
  /** Only lines written from `since` until before `until`, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
  /**
   * Called with what is damaged or missing, so that lines may be. The scan goes on beside it.
   *
   * @param key the object, or the folder of its hour
   */
  readonly onFault: (text: string, key: string) => void;
  /** Called with lines that cannot be parsed, or are of a newer version. */
  readonly onSkipped: (key: string, lines: { readonly broken: number; readonly newer: number }) => void;
}

/** A line of the log. */
export interface ScannedLine {
  readonly place: LinePlace;
  readonly line: LedgerLine;
}

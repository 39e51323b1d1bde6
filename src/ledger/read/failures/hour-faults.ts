import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import { rangeOfHour, type TimeRange } from '../time-ranges.js';

/** What is damaged in compacted hours, as far as reads have shown. */
export interface HourFaults {
  /** @param hidesLines whether lines of the hour may be missing for it */
  note(text: string, hour: string, hidesLines: boolean): void;
  /** Runs a read of a file and notes a `LedgerFileError` that it rejects with. */
  noteIn(file: { readonly hour: string }, read: () => Promise<void>): Promise<void>;
  texts(): string[];
  /** The hours that lines may be missing of. */
  hiding(): TimeRange[];
  /** Forgets those of hours that end before an instant. */
  forgetBefore(time: number): void;
}

export function createHourFaults(): HourFaults {
  const faults = new Map<string, TimeRange & { readonly hidesLines: boolean }>();

  function note(text: string, hour: string, hidesLines: boolean): void {
    faults.set(text, { ...rangeOfHour(hour), hidesLines });
  }

  return {
    note,
    async noteIn({ hour }, read) {
      try {
        await read();
      } catch (cause) {
        if (!(cause instanceof LedgerFileError)) throw cause;
        note(cause.message, hour, true);
      }
    },
    texts: () => [...faults.keys()],
    hiding: () => [...faults.values()].filter(({ hidesLines }) => hidesLines),
    forgetBefore(time) {
      for (const [text, { until }] of faults) if (until <= time) faults.delete(text);
    },
  };
}

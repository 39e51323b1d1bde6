/** A line of the report of an erasure, as far as its totals depend on it. */
interface ReportLine {
  readonly error?: string;
  readonly erased?: Readonly<Record<string, number>>;
  readonly complete?: boolean;
}

/** The sums of a report; beside them those of `erased`, such as `artefacts` and `bytes`. */
export interface ErasureTotals {
  readonly jobs: number;
  readonly erasedNow: number;
  readonly erasedBefore: number;
  /** Some of each is hidden, but cannot be removed yet. */
  readonly incomplete: number;
  readonly notErased: number;
  readonly removed: Readonly<Record<string, number>>;
}

export function erasureTotals(lines: readonly ReportLine[]): ErasureTotals {
  const erased = lines.flatMap((line) => (line.erased === undefined ? [] : [line.erased]));
  const notErased = lines.filter((line) => line.error !== undefined).length;
  const removed: Record<string, number> = {};
  for (const counts of erased)
    for (const [name, count] of Object.entries(counts)) removed[name] = (removed[name] ?? 0) + count;
  return {
    jobs: lines.length,
    erasedNow: erased.length,
    erasedBefore: lines.length - erased.length - notErased,
    incomplete: lines.filter((line) => line.complete === false).length,
    notErased,
    removed,
  };
}

/** What a report was asked for. */
export interface ErasureSelector {
  /** Number of ids that were named. */
  readonly jobs: number;
  readonly context: Readonly<Record<string, string>>;
  readonly unknown: boolean;
}

/** The first and the last line of a report; the last one only when the run came to its end. */
export type ErasureRunLine =
  | { readonly erasure: 'begun'; readonly startedAt: string; readonly selector: ErasureSelector }
  | {
      readonly erasure: 'ended';
      readonly startedAt: string;
      readonly finishedAt: string;
      readonly selector: ErasureSelector;
      readonly totals: ErasureTotals;
    };

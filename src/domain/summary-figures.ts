/** Durations in milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Figures of deliveries. */
export interface SummaryFigures {
  readonly lines: number;
  readonly bytes: number;
  /** Callbacks, and how many were not answered 2xx. Both include refused requests of the service that left no line. */
  readonly callbacks: number;
  readonly refused: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Durations of callbacks; null without any. */
  readonly duration: Percentiles | null;
  /** Jobs whose callback was expected then and did not come. */
  readonly missed: number;
}

/** The figures of one group. */
export interface SummaryRow extends SummaryFigures {
  /** Value of the group, ISO 8601 for hours and days; null for deliveries without one, or as `note` explains. */
  readonly value: string | null;
  /** Source of the group, when groups are causes; otherwise null. */
  readonly source: string | null;
  /** Why a value of the context is null: it was left out when the callback arrived. */
  readonly note: 'omitted' | null;
}

/** The sum of groups that are not listed. */
export interface RestOfGroups extends SummaryFigures {
  readonly groups: number;
}

/** Refused requests that left no line and most likely came from the speech service, of one source and reason. */
export interface SenderRefusals {
  readonly source: string | null;
  readonly reason: string;
  /** How many in each minute; beginnings of minutes in milliseconds since the epoch. */
  readonly minutes: readonly (readonly [start: number, count: number])[];
}

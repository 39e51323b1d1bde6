import type { Attempt } from '../dead/dead-event.js';
import { NO_FIGURES, type SourceFigures, sourceKey } from '../outbox-state.js';
import type { JobEvent } from '../receiver-event.js';

/** Counts what happens to events, by their source. */
export interface SourceCounts {
  sent(event: JobEvent, at: string): void;
  retried(event: JobEvent): void;
  failed(event: JobEvent, attempt: Attempt): void;
  /** @param untried events that were read and not tried yet */
  figures(untried: readonly JobEvent[]): Record<string, SourceFigures>;
}

/** @param saved the figures of the sender that was here before */
export function createSourceCounts(saved: Readonly<Record<string, SourceFigures>>): SourceCounts {
  const counts = new Map<string, SourceFigures>();
  for (const [source, figures] of Object.entries(saved))
    counts.set(source, { ...figures, untried: 0, oldestUntried: null });

  function of(event: JobEvent): SourceFigures {
    return counts.get(sourceKey(event.data.source)) ?? NO_FIGURES;
  }

  function change(event: JobEvent, changed: Partial<SourceFigures>): void {
    counts.set(sourceKey(event.data.source), { ...of(event), ...changed });
  }

  return {
    sent: (event, lastSentAt) => change(event, { sent: of(event).sent + 1, lastSentAt }),
    retried: (event) => change(event, { retried: of(event).retried + 1 }),
    failed: (event, lastFailure) => change(event, { lastFailure }),
    figures(untried) {
      const figures = new Map<string, SourceFigures>(counts);
      for (const { data, time } of untried) {
        const key = sourceKey(data.source);
        const before = figures.get(key) ?? NO_FIGURES;
        const oldestUntried =
          before.oldestUntried !== null && before.oldestUntried < time ? before.oldestUntried : time;
        figures.set(key, { ...before, untried: before.untried + 1, oldestUntried });
      }
      return Object.fromEntries(figures);
    },
  };
}

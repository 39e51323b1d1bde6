import type { ReconcileFigures, Trouble } from '../api/answers/health.js';
import { warning } from './trouble.js';

export interface ServiceFacts {
  /** An API key and at least one region's address are configured. */
  readonly configured: boolean;
  /** Milliseconds between runs of reconcile in this process; null when it does not run here. */
  readonly interval: number | null;
}

/** Milliseconds after which a run is overdue: one run a day leaves time before the service's retention ends. */
export const RECONCILE_OVERDUE = 26 * 3_600_000;

export function reconcileTroubles(
  reconcile: ReconcileFigures | null,
  service: ServiceFacts,
  now: number,
): Trouble[] {
  const finished = reconcile?.finishedAt ?? null;
  if (reconcile === null || finished === null) {
    if (!service.configured) {
      const how = 'set speech.apiKey and speech.regions.<region>.batchUrl';
      return [
        warning('reconcile', `Lost callbacks are not noticed: the speech service cannot be asked; ${how}.`),
      ];
    }
    return [
      service.interval === null
        ? warning(
            'reconcile',
            'Lost callbacks are not noticed: reconcile has never run, and does not run here.',
          )
        : warning('reconcile', 'Reconcile has not run yet; lost callbacks are not noticed until it has.'),
    ];
  }
  const warnings: Trouble[] = [];
  if (now - Date.parse(finished) > RECONCILE_OVERDUE) {
    warnings.push(
      warning(
        'reconcile',
        `Reconcile last finished at ${finished}; callbacks lost since are not noticed.`,
        'reconcile-overdue',
      ),
    );
  }
  const [fault, ...others] = reconcile.faults;
  if (fault !== undefined) {
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    warnings.push(
      warning(
        'reconcile',
        `The last reconcile did not see everything: ${fault}${more}.`,
        'reconcile-incomplete',
      ),
    );
  }
  return warnings;
}

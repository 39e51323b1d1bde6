import type { Logger } from '../../observe/logger.js';
import type { StoreCondition } from '../../store/store-remedies.js';
import { remedyOf } from '../../store/store-remedies.js';

export interface LoggedFailure {
  readonly reason: string;
  readonly condition: StoreCondition | null;
}

export type StoreFailureLog = ReturnType<typeof createStoreFailureLog>;

/** Milliseconds between log lines of one failure, which repeats every few seconds during an outage. */
const REPEATED_EVERY = 600_000;

/** Parts that vary in the reasons of one failure: keys, request ids, numbers. */
const VARYING = /"[^"]*"|request id \S+|\S*\d\S*/g;

/** @param clock milliseconds, monotonic */
export function createStoreFailureLog(
  log: Pick<Logger, 'error'>,
  clock: () => number = () => performance.now(),
) {
  const lastByName = new Map<string, { readonly failure: string; readonly at: number; repeated: number }>();
  return {
    /**
     * Logs the failure without a stack, because it is not a bug of this program. `event` is a fixed name of the operation, `of` its subject.
     * Repetitions are counted, and logged with their number ten minutes after the last line.
     */
    failed(
      event: string,
      { reason, condition }: LoggedFailure,
      of: Readonly<Record<string, string | null>> = {},
    ): void {
      const name = JSON.stringify([event, of]);
      const failure = condition ?? reason.replace(VARYING, '');
      const last = lastByName.get(name);
      if (last !== undefined && last.failure === failure && clock() - last.at < REPEATED_EVERY) {
        last.repeated += 1;
        return;
      }
      const repeated = last?.failure === failure ? last.repeated : 0;
      lastByName.set(name, { failure, at: clock(), repeated: 0 });
      const remedy = condition === null ? undefined : remedyOf(condition);
      log.error({ event, ...of, condition, remedy, ...(repeated > 0 && { repeated }) }, reason);
    },
  };
}

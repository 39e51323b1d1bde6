import type { Screen } from './capture-screen.js';

export interface Interrupts {
  /** Aborted by the first interrupt: no more audio is sent, the rest of the transcript is awaited. */
  readonly stop: AbortSignal;
  /** Aborted by the second: the final segments so far are archived at once. */
  readonly giveUp: AbortSignal;
  /** Removes the signal handlers. */
  remove(): void;
}

export function listenForInterrupts(screen: Screen): Interrupts {
  const stop = new AbortController();
  const giveUp = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) giveUp.abort();
    else screen.note('Ending; waiting for the rest of the transcript. Interrupt again to stop waiting.');
    stop.abort();
  };
  // A closed terminal does not end the audio: the session continues to its end.
  const onHangUp = (): void => {};
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onHangUp);
  return {
    stop: stop.signal,
    giveUp: giveUp.signal,
    remove: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal).off('SIGHUP', onHangUp),
  };
}

type SignalHandler = (signal: NodeJS.Signals) => void;

/** The last is of a terminal that is closed. */
export const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

let current: SignalHandler | null = null;

/** From now on the signals that end a process call `handler`, and no longer the one given before. */
export function handleSignals(handler: SignalHandler): void {
  if (current === null) {
    for (const name of END_SIGNALS) process.on(name, (signal) => current?.(signal));
  }
  current = handler;
}

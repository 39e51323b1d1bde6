type SignalHandler = (signal: NodeJS.Signals) => void;

/** The last is of a terminal that is closed. */
const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

let current: SignalHandler | null = null;

/** From now on the signals that end a process call `handler`, and no longer the one given before. */
export function handleSignals(handler: SignalHandler): void {
  if (current === null) {
    for (const name of END_SIGNALS) process.on(name, (signal) => current?.(signal));
  }
  current = handler;
}

/** Runs work with what a signal that ends processes aborts. The second signal ends the process at once with this exit code. */
export async function untilSignal<T>(exitCode: number, work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const onSignal: SignalHandler = (signal) => {
    if (!stop.signal.aborted) stop.abort();
    else if (signal !== 'SIGHUP') process.exit(exitCode);
  };
  for (const name of END_SIGNALS) process.on(name, onSignal);
  try {
    return await work(stop.signal);
  } finally {
    for (const name of END_SIGNALS) process.off(name, onSignal);
  }
}

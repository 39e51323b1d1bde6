type SignalHandler = (signal: NodeJS.Signals) => void;

/** SIGHUP: the terminal was closed. */
const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

let current: SignalHandler | null = null;

/** Sets the handler of the signals that end a process, in place of an earlier one. */
export function handleSignals(handler: SignalHandler): void {
  if (current === null) {
    for (const name of END_SIGNALS) process.on(name, (signal) => current?.(signal));
  }
  current = handler;
}

/** Runs work that the first signal aborts. The second one ends the process at once with this exit code. */
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

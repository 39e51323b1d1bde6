type SignalHandler = (signal: NodeJS.Signals) => void;

let current: SignalHandler | null = null;

/** From now on SIGTERM and SIGINT call `handler`, and no longer the one given before. */
export function handleSignals(handler: SignalHandler): void {
  if (current === null) {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, (signal) => current?.(signal));
  }
  current = handler;
}

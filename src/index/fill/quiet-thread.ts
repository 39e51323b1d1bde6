import { constants, getPriority, setPriority } from 'node:os';

/** For a thread before it loads SQLite: hides what Node says of it, and gives way to other threads. */
export function quietThread(): void {
  // Node 22 says once for each process that SQLite is experimental (https://nodejs.org/api/sqlite.html). Node prints all other warnings.
  const printers = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite')) return;
    for (const print of printers) print(warning);
  });
  // A question may take a core for seconds. Linux has a priority for each thread (man 2 setpriority); elsewhere it is that of the process.
  if (process.platform === 'linux')
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
}

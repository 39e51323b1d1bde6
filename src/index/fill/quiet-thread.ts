import { constants, getPriority, setPriority } from 'node:os';

/** Prepares a thread for SQLite: hides Node's warning about it, and lowers the priority of the thread. */
export function quietThread(): void {
  // Node 22 warns once per process that SQLite is experimental (https://nodejs.org/api/sqlite.html). All other warnings are printed.
  const printers = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite')) return;
    for (const print of printers) print(warning);
  });
  // A question may take a core for seconds. Linux has a priority per thread (man 2 setpriority); elsewhere it is that of the process.
  if (process.platform === 'linux')
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
}

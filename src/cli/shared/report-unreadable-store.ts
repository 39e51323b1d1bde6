import { ConfigError } from '../../config/config-error.js';
import { EXIT, UsageError } from './exit-codes.js';
import { printNotes } from './format/print.js';

/**
 * Prints why the store could not be read, and sets exit code 4, for commands whose exit code 1 means that nothing was found. Rethrows wrong
 * usage and faults in the configuration.
 */
export function reportUnreadableStore(error: unknown): null {
  printNotes(reasonUnlessUsage(error));
  process.exitCode = EXIT.incomplete;
  return null;
}

/** Message of an error. Rethrows wrong usage and faults in the configuration. */
export function reasonUnlessUsage(error: unknown): string {
  if (error instanceof ConfigError || error instanceof UsageError) throw error;
  return error instanceof Error ? error.message : String(error);
}

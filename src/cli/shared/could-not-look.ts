import { ConfigError } from '../../config/config-error.js';
import { EXIT, UsageError } from './exit-codes.js';
import { printNotes } from './format/print.js';

/**
 * For commands whose exit code 1 says that nothing was found: says why a store could not be looked at, and sets the exit code 4. Throws
 * wrong usage and faults in the configuration.
 */
export function couldNotLook(error: unknown): null {
  printNotes(reasonUnlessUsage(error));
  process.exitCode = EXIT.incomplete;
  return null;
}

/** Why a command could not look at a store. Throws wrong usage and faults in the configuration, which stay errors. */
export function reasonUnlessUsage(error: unknown): string {
  if (error instanceof ConfigError || error instanceof UsageError) throw error;
  return error instanceof Error ? error.message : String(error);
}

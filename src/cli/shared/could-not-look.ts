import { EXIT } from './exit-codes.js';
import { reasonUnlessUsage } from './reason-unless-usage.js';

/**
 * For commands whose exit code 1 says that nothing was found: says why a store could not be looked at, and sets the exit code 4. Throws
 * wrong usage and faults in the configuration.
 */
export function couldNotLook(error: unknown): null {
  process.stderr.write(`transcript-receiver: ${reasonUnlessUsage(error)}\n`);
  process.exitCode = EXIT.incomplete;
  return null;
}

import { ConfigError } from '../../config/config-error.js';
import { UsageError } from './exit-codes.js';

/** Why a command could not look at a store. Throws wrong usage and faults in the configuration, which stay errors. */
export function reasonUnlessUsage(error: unknown): string {
  if (error instanceof ConfigError || error instanceof UsageError) throw error;
  return error instanceof Error ? error.message : String(error);
}

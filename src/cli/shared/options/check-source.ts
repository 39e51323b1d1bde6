import type { Config } from '../../../config/config.js';
import { sourceNamed } from '../source-credential.js';

/** Throws `UsageError` for an unknown source, which would match nothing. */
export function checkSource(config: Config, source: string | undefined): void {
  if (source !== undefined) sourceNamed(config, source);
}

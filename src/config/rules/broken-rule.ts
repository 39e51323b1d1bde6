import type { SettingPath } from '../config-error.js';

/** A fault of several settings together. `also` names the other settings that the rule reads. */
export interface BrokenRule {
  readonly path: SettingPath;
  readonly expected: string;
  readonly also?: readonly SettingPath[];
}

/** What rules depend on besides the settings. */
export interface RuleContext {
  readonly production: boolean;
}

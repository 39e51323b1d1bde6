import type { SettingPath } from '../config-error.js';

/** A fault of several settings together. `also` names the other settings that the rule reads. */
export interface BrokenRule {
  readonly path: SettingPath;
  readonly expected: string;
  readonly also?: readonly SettingPath[];
}

/** Use of the settings, as far as rules depend on it. */
export interface RuleContext {
  readonly production: boolean;
}

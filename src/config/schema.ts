import { z } from 'zod';
import { admin } from './schema/admin-settings.js';
import { retention } from './schema/retention-settings.js';
import { limits, receiver } from './schema/server-settings.js';
import { egress, sources } from './schema/source-settings.js';
import { recovery, speech } from './schema/speech-settings.js';
import { ledger, store } from './schema/store-settings.js';
import { subscribers } from './schema/subscriber-settings.js';
import { optional, section, setting } from './setting.js';
import * as types from './value-types.js';

const log = section('Logging.', {
  level: setting(
    types.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    'level',
    'info',
    'trace, debug, info, warn, error, fatal or silent.',
  ),
});

/** Every setting, with its default and its documentation, from which docs/configuration.md is generated. */
export const configSchema = z.strictObject({
  receiver,
  admin,
  store,
  ledger,
  retention,
  sources,
  subscribers,
  limits,
  speech,
  recovery,
  log,
  replicaName: optional(
    types.text(/^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/, 'a name of letters, digits, dots and hyphens'),
    'text',
    'In ledger and logs. Not set: host name and, unless 1, process id.',
  ),
  egress,
});

/** The value the schema makes of a tree of settings. */
export type Settings = z.output<typeof configSchema>;

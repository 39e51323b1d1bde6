import { get } from './api.js';

/** @import { Names } from '../api-answers.js' */

/**
 * Names that filters take; asked for once, because they are the configuration's.
 * @type {Promise<Names> | null}
 */
let asked = null;

export function knownNames() {
  asked ??= get('/names').catch((error) => {
    asked = null;
    throw error;
  });
  return asked;
}

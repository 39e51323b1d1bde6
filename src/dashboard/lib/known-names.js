import { get } from './api.js';

/** Names that filters take; asked for once, because they are the configuration's. */
let asked = null;

export function knownNames() {
  asked ??= get('/names').catch((error) => {
    asked = null;
    throw error;
  });
  return asked;
}

/** Options of a filter, with what the address asks for although nothing of that name is known. */
export function nameOptions(names, chosen = '') {
  const all = chosen === '' || names.includes(chosen) ? names : [...names, chosen];
  return [['', 'Any'], ...all.map((name) => [name, name])];
}

import { CONTENT_CLASSES, type ContentClass } from '../domain/kinds.js';
import { leaf, Mismatch } from './setting.js';

type StorageClasses = { readonly [K in ContentClass]?: string };

/** Objects of the classes left out can be read only after a restore that takes hours. */
const READABLE_AT_ONCE = /^(?!(GLACIER|DEEP_ARCHIVE)$)[A-Z0-9_]{1,64}$/;
const EXPECTED = 'a storage class that can be read at once, such as STANDARD_IA or GLACIER_IR';

/** One class for all artefacts, or a map from kinds to classes. */
export function storageClasses() {
  return leaf<StorageClasses>(`${EXPECTED}, or a map from kinds to such classes`, (input) => {
    if (typeof input === 'string') return READABLE_AT_ONCE.test(input) ? ofArtefacts(input) : undefined;
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
    const given = Object.entries(input).filter(([, name]) => name !== null);
    const unknown = given.find(([kind]) => !isContentClass(kind));
    if (unknown !== undefined)
      return new Mismatch(`a map whose kinds are among ${CONTENT_CLASSES.join(', ')}, not ${unknown[0]}`);
    const refused = given.find(([, name]) => typeof name !== 'string' || !READABLE_AT_ONCE.test(name));
    if (refused !== undefined) return new Mismatch(`for ${refused[0]} ${EXPECTED}`);
    return Object.fromEntries(given) as StorageClasses;
  });
}

/** One class for all kinds but the quarantine, whose bodies usually end before the minimum age of other classes. */
function ofArtefacts(name: string): StorageClasses {
  const kinds = CONTENT_CLASSES.filter((kind) => kind !== 'quarantine');
  return Object.fromEntries(kinds.map((kind) => [kind, name]));
}

function isContentClass(text: string): text is ContentClass {
  return (CONTENT_CLASSES as readonly string[]).includes(text);
}

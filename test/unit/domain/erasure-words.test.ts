import { expect, it } from '@jest/globals';
import { erasedInWords } from '../../../src/domain/erasure-words.js';

const NOTHING = { artefacts: 0, conflicts: 0, quarantined: 0, events: 0, versions: 0, uploads: 0 };

it('names what was erased of a job, and only that', () => {
  expect(erasedInWords({ ...NOTHING, artefacts: 1 })).toBe('1 artefact');
  expect(erasedInWords({ ...NOTHING, artefacts: 2, quarantined: 1, uploads: 3 })).toBe(
    '2 artefacts, 1 quarantined body, 3 uploads',
  );
  expect(erasedInWords(NOTHING)).toBe('nothing');
});

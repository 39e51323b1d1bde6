import { expect, it } from '@jest/globals';
import { retentionClassOf } from '../../../src/domain/kinds.js';

it.each(['a-kind-of-a-newer-version', '__proto__', 'constructor'])('counts %s as an attachment', (kind) => {
  expect(retentionClassOf(kind as never)).toBe('attachment');
});

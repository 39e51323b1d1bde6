import { expect, it } from '@jest/globals';
import { decodeIdCursor, encodeIdCursor } from '../../../../src/lib/text/id-cursor.js';
import { decodePlace, encodePlace } from '../../../../src/lib/text/list-cursor.js';

const ID = '01K0000000000000000000000A';

it('a cursor gives its place back to its own list', () => {
  expect(decodePlace('events', encodePlace('events', [7, 'x']), (values) => values)).toEqual([7, 'x']);
  expect(decodeIdCursor('dead', encodeIdCursor('dead', ID))).toBe(ID);
});

it.each([
  ['of another list', encodeIdCursor('replays', ID)],
  ['without a list', Buffer.from(JSON.stringify([ID])).toString('base64url')],
  ['with another character', `!${encodeIdCursor('dead', ID)}`],
  ['of something else', encodeIdCursor('dead', '../x')],
  ['that is empty', ''],
])('a cursor %s is rejected', (_, cursor) => {
  expect(() => decodeIdCursor('dead', cursor)).toThrow('not one this API gave out');
});

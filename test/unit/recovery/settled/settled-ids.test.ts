import { describe, expect, it } from '@jest/globals';
import { ID_BYTES, includesId, packIds, settledId } from '../../../../src/recovery/settled/settled-ids.js';

describe('packed ids of settled jobs', () => {
  it.each([0, 1, 2, 3, 100, 1001])('hold exactly the %i ids they were made of', (count) => {
    const ids = Array.from({ length: count }, (_, n) => settledId(`job${n}`));
    const packed = packIds(ids);
    expect(packed).toHaveLength(count * ID_BYTES);
    expect(ids.every((id) => includesId(packed, id))).toBe(true);
    for (let n = 0; n < 1000; n += 1) expect(includesId(packed, settledId(`other${n}`))).toBe(false);
  });
});

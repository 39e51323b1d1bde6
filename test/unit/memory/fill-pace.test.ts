import { describe, expect, it } from '@jest/globals';
import { FillPace, HAND_ON_WITHIN } from '../../../src/memory/fill-pace.js';

const MIB = 1024 * 1024;
const STEPS = { part: 8 * MIB, smallBody: MIB };

/** A delivery whose sender sent `bytes` within `seconds`. */
function paceOf({ expected = null as number | null, bytes = 0, seconds = 0 }) {
  const clock = { time: 0 };
  const pace = new FillPace(() => clock.time, STEPS, expected);
  clock.time += seconds * 1000;
  pace.came(bytes);
  return { pace, clock };
}

/** Seconds within which a sender of that speed completes `bytes`. */
const secondsFor = (bytes: number, bytesPerSecond: number) => bytes / bytesPerSecond;

describe('the pace of a delivery', () => {
  it.each([
    ['of unknown size that is small has to complete a small body', null, MIB / 2, MIB],
    ['of unknown size that is large has to complete a part', null, 2 * MIB, 8 * MIB],
    ['of known size has to complete its body', 4 * MIB, MIB, 4 * MIB],
    ['of known size beyond a part has to complete the part', 100 * MIB, MIB, 8 * MIB],
    ['that exceeds what was announced has no known end', MIB, 2 * MIB, 8 * MIB],
  ])('%s within 30 s', (_, expected, bytes, whole) => {
    const justFast = secondsFor(bytes, whole / (HAND_ON_WITHIN / 1000));
    expect(paceOf({ expected, bytes, seconds: justFast }).pace.sufficiency()).toBeCloseTo(1, 6);
    expect(paceOf({ expected, bytes, seconds: 2 * justFast }).pace.sufficiency()).toBeCloseTo(0.5, 6);
  });

  it('is not judged by less than two seconds', () => {
    const { pace, clock } = paceOf({ bytes: 0, seconds: 1.999 });
    expect(pace.sufficiency()).toBe(Number.POSITIVE_INFINITY);
    pace.ready();
    clock.time += 1;
    expect(pace.sufficiency()).toBe(0);
  });

  it('counts the time of the sender alone', () => {
    const { pace, clock } = paceOf({ expected: 8 * MIB, bytes: MIB, seconds: 3 });
    const before = pace.sufficiency();
    clock.time += 60_000;
    expect(pace.sufficiency()).toBe(before);
    pace.ready();
    clock.time += 3000;
    expect(pace.sufficiency()).toBeCloseTo(before / 2, 6);
    pace.ready();
    pace.came(0);
    expect(pace.sufficiency()).toBeCloseTo(before / 2, 6);
  });

  it('begins anew when memory was handed on', () => {
    const { pace, clock } = paceOf({ expected: 100 * MIB, bytes: 8 * MIB, seconds: 100 });
    expect(pace.sufficiency()).toBeLessThan(1);
    pace.handedOn();
    expect(pace.sufficiency()).toBe(Number.POSITIVE_INFINITY);
    pace.ready();
    clock.time += 3000;
    pace.came(MIB);
    expect(pace.sufficiency()).toBeCloseTo(HAND_ON_WITHIN / 3000 / 8, 6);
  });

  it('is sufficient once all has come', () => {
    const { pace } = paceOf({ bytes: 1, seconds: 100 });
    pace.complete();
    expect(pace.sufficiency()).toBe(Number.POSITIVE_INFINITY);
  });

  it('promises what its sender sends in two seconds, at first never more than three times what came', () => {
    const slow = paceOf({ bytes: 2 * MIB, seconds: 3.9 }).pace;
    expect(slow.ahead()).toBeCloseTo(MIB, 0);
    expect(paceOf({ bytes: 2 * MIB, seconds: 0 }).pace.ahead()).toBe(6 * MIB);
  });

  it('promises a body that still counts as small no more than a small body may have', () => {
    expect(paceOf({ bytes: 900 * 1024 }).pace.ahead()).toBe(124 * 1024);
    expect(paceOf({ bytes: MIB }).pace.ahead()).toBe(0);
    expect(paceOf({ bytes: MIB + 1 }).pace.ahead()).toBe(3 * (MIB + 1));
  });

  it('promises by speed alone once memory was handed on', () => {
    const { pace } = paceOf({ bytes: 2 * MIB, seconds: 0 });
    pace.handedOn();
    expect(pace.ahead()).toBeCloseTo(40 * MIB, 0);
  });
});

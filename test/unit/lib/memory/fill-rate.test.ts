import { describe, expect, it } from '@jest/globals';
import { FillRate, PART_WITHIN, SMALL_WITHIN } from '../../../../src/lib/memory/fill-rate.js';

const MIB = 1024 * 1024;
const STEPS = { part: 8 * MIB, smallBody: MIB };

/** A delivery whose sender sent `bytes` within `seconds`. */
function rateOf({ expected = null as number | null, bytes = 0, seconds = 0 }) {
  const clock = { time: 0 };
  const rate = new FillRate(() => clock.time, STEPS, expected);
  clock.time += seconds * 1000;
  rate.received(bytes);
  return { rate, clock };
}

/** Seconds within which a sender of that speed completes `bytes`. */
const secondsFor = (bytes: number, bytesPerSecond: number) => bytes / bytesPerSecond;

describe('the rate of a delivery', () => {
  it.each([
    ['of unknown size that is small has to complete a small body', null, MIB / 2, MIB, SMALL_WITHIN],
    ['of known size that is small has to complete its body', MIB / 2, MIB / 4, MIB / 2, SMALL_WITHIN],
    ['of unknown size that is large has to complete a part', null, 2 * MIB, 8 * MIB, PART_WITHIN],
    ['of known size has to complete its body', 4 * MIB, MIB, 4 * MIB, PART_WITHIN],
    ['of known size beyond a part has to complete the part', 100 * MIB, MIB, 8 * MIB, PART_WITHIN],
    ['that exceeds what was announced has no known end', MIB, 2 * MIB, 8 * MIB, PART_WITHIN],
  ])('%s in time', (_, expected, bytes, whole, within) => {
    const justFast = secondsFor(bytes, whole / (within / 1000));
    expect(rateOf({ expected, bytes, seconds: justFast }).rate.sufficiency()).toBeCloseTo(1, 6);
    expect(rateOf({ expected, bytes, seconds: 2 * justFast }).rate.sufficiency()).toBeCloseTo(0.5, 6);
  });

  it('is not judged by less than two seconds', () => {
    const { rate, clock } = rateOf({ bytes: 0, seconds: 1.999 });
    expect(rate.sufficiency()).toBe(Number.POSITIVE_INFINITY);
    rate.awaitSender();
    clock.time += 1;
    expect(rate.sufficiency()).toBe(0);
  });

  it('is none after three seconds of silence', () => {
    const { rate, clock } = rateOf({ expected: 8 * MIB, bytes: 8 * MIB - 1, seconds: 3 });
    rate.awaitSender();
    clock.time += 2999;
    expect(rate.sufficiency()).toBeGreaterThan(1);
    clock.time += 1;
    expect(rate.sufficiency()).toBe(0);
  });

  it.each([
    ['in one piece', 1, 0],
    ['in pieces', 16, 10],
  ])('excludes a wait of the receiver after which 64 KiB arrive at once: %s', (_, pieces, gap) => {
    const { rate, clock } = rateOf({ expected: 8 * MIB, bytes: MIB, seconds: 3 });
    const before = rate.sufficiency();
    clock.time += 60_000;
    expect(rate.sufficiency()).toBe(before);
    for (let piece = 0; piece < pieces; piece += 1) {
      rate.awaitSender();
      clock.time += gap;
      rate.received((64 * 1024) / pieces);
    }
    rate.awaitSender();
    clock.time += 2000;
    const spent = 5000 + pieces * gap;
    expect(rate.sufficiency()).toBeCloseTo(((17 / 16 / 8) * PART_WITHIN) / spent, 6);
  });

  it('counts a wait of the receiver as time of the sender when it had sent less meanwhile', () => {
    const { rate, clock } = rateOf({ expected: 8 * MIB, bytes: MIB, seconds: 3 });
    const half = 32 * 1024;
    clock.time += 10_000;
    rate.awaitSender();
    rate.received(half);
    expect(rate.sufficiency()).toBeGreaterThan(1);
    clock.time += 7_000;
    rate.awaitSender();
    clock.time += 251;
    expect(rate.sufficiency()).toBeCloseTo((((MIB + half) / (8 * MIB)) * PART_WITHIN) / 20_251, 6);
    rate.received(half - 1);
    expect(rate.sufficiency()).toBeCloseTo((((MIB + 2 * half - 1) / (8 * MIB)) * PART_WITHIN) / 20_251, 6);
  });

  it('begins anew when memory was handed on', () => {
    const { rate, clock } = rateOf({ expected: 100 * MIB, bytes: 8 * MIB, seconds: 100 });
    expect(rate.sufficiency()).toBeLessThan(1);
    rate.flushed();
    expect(rate.sufficiency()).toBe(Number.POSITIVE_INFINITY);
    rate.awaitSender();
    clock.time += 3000;
    rate.received(MIB);
    expect(rate.sufficiency()).toBeCloseTo(PART_WITHIN / 3000 / 8, 6);
  });

  it('is sufficient once all has come', () => {
    const { rate } = rateOf({ bytes: 1, seconds: 100 });
    rate.complete();
    expect(rate.sufficiency()).toBe(Number.POSITIVE_INFINITY);
  });

  it('promises what its sender sends in two seconds, at first never more than three times what came', () => {
    const slow = rateOf({ bytes: 2 * MIB, seconds: 3.9 }).rate;
    expect(slow.lookAhead()).toBeCloseTo(MIB, 0);
    expect(rateOf({ bytes: 2 * MIB, seconds: 0 }).rate.lookAhead()).toBe(6 * MIB);
  });

  it('promises a body that still counts as small no more than a small body may have', () => {
    expect(rateOf({ bytes: 900 * 1024 }).rate.lookAhead()).toBe(124 * 1024);
    expect(rateOf({ bytes: MIB }).rate.lookAhead()).toBe(0);
    expect(rateOf({ bytes: MIB + 1 }).rate.lookAhead()).toBe(3 * (MIB + 1));
  });

  it('promises by speed alone once memory was handed on', () => {
    const { rate } = rateOf({ bytes: 2 * MIB, seconds: 0 });
    rate.flushed();
    expect(rate.lookAhead()).toBeCloseTo(40 * MIB, 0);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../../src/config/units.js';

describe('parseSize', () => {
  it.each([
    ['64MiB', 67_108_864],
    ['5GiB', 5_368_709_120],
    ['1.5KiB', 1_536],
    ['10MB', 10_000_000],
    ['10 MB', 10_000_000],
    ['12', 12],
    [12, 12],
    ['0', 0],
  ])('reads %p as %d bytes', (input, bytes) => {
    expect(parseSize(input)).toBe(bytes);
  });

  it.each([
    '',
    'MiB',
    '-1',
    '1e3',
    '1.5',
    '64mib',
    '64M',
    '1,5KiB',
    'constructor',
    -1,
    1.5,
    Number.NaN,
    2 ** 60,
    null,
    true,
    [],
  ])('does not read %p', (input) => {
    expect(parseSize(input)).toBeUndefined();
  });

  it('reads what formatSize writes', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom(1, 1024, 2 ** 20), (value, unit) => {
        const bytes = value - (value % unit);
        expect(parseSize(formatSize(bytes))).toBe(bytes);
      }),
    );
  });
});

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['48h', 172_800_000],
    ['7d', 604_800_000],
    ['2y', 63_072_000_000],
    ['0.5s', 500],
    [250, 250],
    ['250', 250],
  ])('reads %p as %d milliseconds', (input, milliseconds) => {
    expect(parseDuration(input)).toBe(milliseconds);
  });

  it.each(['1h30m', '1w', '10M', '10min', 'PT1S', '-5s', '1.0001ms', null])('does not read %p', (input) => {
    expect(parseDuration(input)).toBeUndefined();
  });

  it('reads what formatDuration writes', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
      }),
    );
  });
});

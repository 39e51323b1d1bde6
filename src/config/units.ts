/** Sizes and durations with units. Plain numbers are bytes and milliseconds. */

const BYTES_PER_UNIT: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

const MILLISECONDS_PER_UNIT: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  y: 365 * 86_400_000,
};

/** `64MiB`, `5GiB`, `1.5MB` or a number of bytes; undefined for anything else, fractions of a byte included. */
export function parseSize(input: unknown): number | undefined {
  return parseQuantity(input, BYTES_PER_UNIT);
}

/** `500ms`, `30s`, `10m`, `48h`, `7d`, `2y` (of 365 days) or a number of milliseconds; undefined for anything else. */
export function parseDuration(input: unknown): number | undefined {
  return parseQuantity(input, MILLISECONDS_PER_UNIT);
}

/** The shortest exact spelling, for messages: 67108864 is `64MiB`. */
export function formatSize(bytes: number): string {
  return format(bytes, ['TiB', 'GiB', 'MiB', 'KiB'], BYTES_PER_UNIT, 'B');
}

/** The shortest exact spelling, for messages: 600000 is `10m`. */
export function formatDuration(milliseconds: number): string {
  return format(milliseconds, ['d', 'h', 'm', 's'], MILLISECONDS_PER_UNIT, 'ms');
}

function parseQuantity(input: unknown, units: Readonly<Record<string, number>>): number | undefined {
  if (typeof input === 'number') return Number.isSafeInteger(input) && input >= 0 ? input : undefined;
  if (typeof input !== 'string') return undefined;
  const [, amount, unit = ''] = /^(\d{1,16}(?:\.\d{1,6})?) ?([A-Za-z]*)$/.exec(input.trim()) ?? [];
  const factor = unit === '' || Object.hasOwn(units, unit) ? (units[unit] ?? 1) : undefined;
  if (amount === undefined || factor === undefined) return undefined;
  const value = Number(amount) * factor;
  return Number.isSafeInteger(value) ? value : undefined;
}

function format(
  value: number,
  names: readonly string[],
  units: Readonly<Record<string, number>>,
  smallest: string,
): string {
  for (const name of names) {
    const factor = units[name] ?? Number.POSITIVE_INFINITY;
    if (value >= factor && value % factor === 0) return `${value / factor}${name}`;
  }
  return `${value}${smallest}`;
}

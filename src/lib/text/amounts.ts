const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size in bytes: "1.5 MiB". */
export function bytes(number: number): string {
  let value = number;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1).replace(/\.0$/, '')} ${UNITS[unit]}`;
}

/** A duration in milliseconds: "120 ms", "2.5 s". */
export function milliseconds(number: number): string {
  if (number < 1000) return `${Math.round(number)} ms`;
  return number < 60_000 ? `${(number / 1000).toFixed(1)} s` : span(number);
}

/** A duration in milliseconds in its largest unit: "3 min". */
export function span(number: number): string {
  const seconds = Math.max(0, Math.round(number / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** A share of a whole: "3.1 %"; null where there is no whole. */
export function percent(part: number, whole: number): string | null {
  if (whole === 0) return null;
  const share = (100 * part) / whole;
  return `${Number(share.toFixed(share < 10 ? 1 : 0))} %`;
}

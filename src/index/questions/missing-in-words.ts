import type { MissingSegments } from '../index-state.js';

/** What is wrong with segments that the index lacks lines of. */
export function missingInWords({ key, segments, unreadable }: Omit<MissingSegments, 'newer'>): string {
  if (unreadable !== null) return `lines of ${key} that cannot be read (${unreadable})`;
  return `${key}${segments === 1 ? '' : ` and ${segments - 1} more`}, which is missing`;
}

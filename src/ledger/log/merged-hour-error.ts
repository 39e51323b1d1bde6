/** For a catch: null instead of what cannot be read. Throws every other error. */
export function nullIfDamaged(error: unknown): null {
  if (error instanceof MergedHourError) return null;
  throw error;
}

/** An object of a merged hour is missing, damaged or another's. The store works: what it has can be read. */
export class MergedHourError extends Error {
  readonly key: string;

  /** @param detail begins with a verb's subject: "it is missing" */
  constructor(key: string, detail: string) {
    super(`${key}: ${detail}`);
    this.name = 'MergedHourError';
    this.key = key;
  }
}

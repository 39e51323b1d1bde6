/** A call of the index failed. */
export class IndexError extends Error {
  /** Whether the index, or the process that writes it, is gone, so that another index must be opened. */
  readonly isLost: boolean;

  constructor(message: string, isLost = false) {
    super(message);
    this.name = 'IndexError';
    this.isLost = isLost;
  }
}

/** The file was damaged, or its writer has replaced it. */
export function indexLost(): IndexError {
  return new IndexError('the index was damaged and is built again', true);
}

import { StoreError } from '../../store/object-store.js';

/** A file of the compacted ledger is missing, damaged, of another hour or not of this product. Retrying is useless. */
export class LedgerFileError extends StoreError {
  readonly key: string;

  constructor(key: string, detail: string, options?: { cause?: unknown }) {
    super('read', `${key} is not a readable ledger file: ${detail}`, options);
    this.name = 'LedgerFileError';
    this.key = key;
  }
}

/** Runs a decoder of the file's content. What it throws is the file's fault. */
export async function decoding<Result>(key: string, decode: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await decode();
  } catch (cause) {
    throw new LedgerFileError(key, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

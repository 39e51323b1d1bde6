import { StoreError } from '../../store/object-store.js';

/** A file of the compacted ledger is missing, damaged, of another hour or not of this product. Retrying is useless. */
export class LedgerFileError extends StoreError {
  readonly key: string;

  constructor(key: string, detail: string) {
    super('read', `${key} is not a readable ledger file: ${detail}`);
    this.name = 'LedgerFileError';
    this.key = key;
  }
}

/** The memory that an index may take. */
export interface IndexMemory {
  /** Reserves memory; false where the bound is reached. */
  reserve(bytes: number): boolean;
  /** Bytes that can still be reserved. */
  available(): number;
}

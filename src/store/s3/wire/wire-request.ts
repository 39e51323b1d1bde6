import type { WholeAnswer } from './answer-parser.js';
import type { HeaderLines } from './object-headers.js';

/** A request that is sent in one go, and whose answer is small. */
export interface WireRequest {
  readonly method: 'PUT' | 'HEAD';
  readonly path: string;
  /** `host` has to be among them, and no header about the body's length. */
  readonly headers: HeaderLines;
  /** Null for a request that has none. */
  readonly body: Buffer | null;
  /** Milliseconds to wait for a connection, and then, once more, for the whole answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Throws what an answer is rejected with. */
  readonly accept?: (answer: WholeAnswer) => void;
}

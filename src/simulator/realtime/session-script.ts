import type { ErrorType, Open } from '../../speech/realtime/wire.js';

/** A fault. `stall`: from then on the service neither reads nor sends. */
export type FaultAct =
  | { readonly do: 'drop' }
  | { readonly do: 'stall' }
  | { readonly do: 'close'; readonly code: number; readonly reason?: string }
  | { readonly do: 'error'; readonly type: Open<ErrorType>; readonly reason?: string; readonly code?: number }
  /** Sends a frame unchanged, e.g. an unknown message, and continues. */
  | { readonly do: 'send'; readonly frame: string | Uint8Array };

/** `start`: in place of (or, for `send`, before) RecognitionStarted; `end`: on EndOfStream; a number: on that frame. */
export interface SessionFault {
  readonly at: 'start' | 'end' | number;
  readonly act: FaultAct;
}

/** How one session goes, where it does not simply go well. */
export interface SessionScript {
  /** HTTP status in place of 101. */
  readonly refuseUpgrade?: number;
  /** Does not answer the upgrade. */
  readonly ignoreUpgrade?: true;
  /** RecognitionStarted waits for it, as it does for a large `additional_vocab`. */
  readonly startAfter?: Promise<unknown>;
  readonly faults?: readonly SessionFault[];
  /** Sends Info `deprecated` with this reason. */
  readonly deprecated?: string;
}

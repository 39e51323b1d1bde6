/** The most that may be sent ahead of AudioAdded; seconds are counted as bytes at the audio's rate. */
interface FlowLimits {
  readonly frames: number;
  readonly bytes: number;
}

/** Counts of frames and their bytes. */
export interface FlowCount {
  readonly frames: number;
  readonly bytes: number;
}

/** Audio sent against audio acknowledged (docs/service-interface.md#realtime: at most 10 s or 500 frames ahead). */
export class FlowWindow {
  readonly #limits: FlowLimits;
  /** Sizes of the frames in flight, oldest first; never more than `limits.frames`. */
  readonly #inFlight: number[] = [];
  #sent: FlowCount = { frames: 0, bytes: 0 };
  #acknowledged: FlowCount = { frames: 0, bytes: 0 };

  constructor(limits: FlowLimits) {
    this.#limits = limits;
  }

  get sent(): FlowCount {
    return this.#sent;
  }

  get acknowledged(): FlowCount {
    return this.#acknowledged;
  }

  get idle(): boolean {
    return this.#inFlight.length === 0;
  }

  /** Whether a frame of `bytes` may be sent now. One that could never fit may be sent alone. */
  admits(bytes: number): boolean {
    if (this.idle) return true;
    const ahead = this.#sent.bytes - this.#acknowledged.bytes;
    return this.#inFlight.length < this.#limits.frames && ahead + bytes <= this.#limits.bytes;
  }

  add(bytes: number): void {
    this.#inFlight.push(bytes);
    this.#sent = { frames: this.#sent.frames + 1, bytes: this.#sent.bytes + bytes };
  }

  /**
   * AudioAdded for frame `seqNo`. A number already acknowledged changes nothing; a later one acknowledges
   * every frame up to it. Returns false for a frame that was never sent.
   */
  acknowledge(seqNo: number): boolean {
    if (seqNo > this.#sent.frames || seqNo < 1) return false;
    const fresh = seqNo - this.#acknowledged.frames;
    if (fresh <= 0) return true;
    const bytes = this.#inFlight.splice(0, fresh).reduce((sum, size) => sum + size, 0);
    this.#acknowledged = { frames: seqNo, bytes: this.#acknowledged.bytes + bytes };
    return true;
  }
}

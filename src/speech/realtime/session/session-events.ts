import type { ReceivedMessage } from '../read-message.js';
import type { TranscriptSegment } from '../transcript/transcript-segment.js';
import type { SessionState } from './session-report.js';

/** Events by name: every message of the service under its own, `unknown` for the rest. */
export type SessionEventMap = {
  [Name in ReceivedMessage['message']]: Extract<ReceivedMessage, { message: Name }>;
} & {
  /** Finals and partials of realtime and agent sessions alike, with absolute times. */
  segment: TranscriptSegment;
  state: SessionState;
};

export type SessionEventName = keyof SessionEventMap;

/** Emits a session's events to its listeners. */
export class SessionEvents {
  readonly #listeners = new Map<SessionEventName, Set<(value: never) => void>>();

  on<Name extends SessionEventName>(
    name: Name,
    listener: (value: SessionEventMap[Name]) => void,
  ): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** An error of a listener surfaces as uncaught, so that it cannot break the session. */
  emit<Name extends SessionEventName>(name: Name, value: SessionEventMap[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as (value: unknown) => void)(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

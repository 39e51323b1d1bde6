import { AsyncQueue } from '../async-queue.js';
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

/** Hands a session's events to its listeners and iterators. */
export class SessionEvents {
  readonly #listeners = new Map<SessionEventName, Set<(value: never) => void>>();
  readonly #messages = new Set<AsyncQueue<ReceivedMessage>>();
  readonly #segments = new Set<AsyncQueue<TranscriptSegment>>();
  #end: { readonly error: Error | undefined } | null = null;

  on<Name extends SessionEventName>(
    name: Name,
    listener: (value: SessionEventMap[Name]) => void,
  ): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  message(message: ReceivedMessage): void {
    this.#emit(message.message, message);
    for (const feed of this.#messages) feed.push(message);
  }

  segment(segment: TranscriptSegment): void {
    this.#emit('segment', segment);
    for (const feed of this.#segments) feed.push(segment);
  }

  state(state: SessionState): void {
    this.#emit('state', state);
  }

  /** No more messages: iterators end, or throw `error`, after what waits in them. */
  end(error?: Error): void {
    this.#end ??= { error };
    for (const feed of [...this.#messages, ...this.#segments]) feed.close(error);
  }

  messages(): AsyncIterableIterator<ReceivedMessage, undefined> {
    return this.#open(this.#messages, () => false);
  }

  segments(): AsyncIterableIterator<TranscriptSegment, undefined> {
    return this.#open(this.#segments, (_later, waiting) => waiting.kind === 'partial');
  }

  #open<T>(feeds: Set<AsyncQueue<T>>, supersedes: (later: T, waiting: T) => boolean): AsyncQueue<T> {
    const feed = new AsyncQueue<T>({ supersedes, onReturn: () => feeds.delete(feed) });
    feeds.add(feed);
    if (this.#end !== null) feed.close(this.#end.error);
    return feed;
  }

  /** A listener's fault is its owner's: it surfaces as uncaught, but cannot break the session midway. */
  #emit(name: string, value: unknown): void {
    for (const listener of this.#listeners.get(name as SessionEventName) ?? []) {
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

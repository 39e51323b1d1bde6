import type { AddPartialTranscript, AddTranscript, ServerMessage } from '../../speech/realtime/wire.js';

/** The messages of an agent session for a transcript: turns, speech and segments. */
export class AgentMessages {
  #speaking = false;

  messagesFor({ message, metadata }: AddTranscript | AddPartialTranscript): ServerMessage[] {
    const { start_time, end_time, transcript } = metadata;
    const body = {
      metadata: { start_time, end_time },
      segment: { speaker: 'S1', transcript: transcript.trim() },
    };
    const opening: ServerMessage[] = this.#speaking
      ? []
      : [{ message: 'StartOfTurn' }, { message: 'SpeechStarted' }];
    this.#speaking = message === 'AddPartialTranscript';
    if (this.#speaking) return [...opening, { message: 'AddPartialSegment', ...body }];
    const closing: ServerMessage[] = [{ message: 'SpeechEnded' }, { message: 'EndOfTurn' }];
    return [...opening, { message: 'AddSegment', ...body }, ...closing];
  }
}

/** A request of a story: what the program of story-files.ts sends to the receiver. */
export interface StoryRequest {
  readonly port: 'public' | 'admin';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Submitted {
  readonly settings: Readonly<Record<string, unknown>>;
  /** The requests of each story by its name; each is sent on its own. */
  readonly stories: Readonly<Record<string, readonly StoryRequest[]>>;
}

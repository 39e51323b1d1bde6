import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { Problem, type ProblemCode } from '../../../domain/problem.js';
import type { Right } from '../../../domain/rights.js';
import { parseBody, readQuery } from '../../../lib/text/read-input.js';
import type { Answer } from '../../answers/values.js';
import type { Access } from '../access/access.js';

/** Schemas by the name of a parameter. */
type Parameters = Readonly<Record<string, z.ZodType>>;

/** Bytes instead of JSON, under one of these content types; `audio/*` stands for all of audio. */
interface DownloadAnswer {
  readonly contentTypes: readonly string[];
}

/** Schema of the answer by status; null for an answer without a body. */
type Answers = Readonly<Record<number, z.ZodType | DownloadAnswer | null>>;

/** The contract of one operation; the OpenAPI document is made from it. */
export interface RouteContract<
  Path extends Parameters = Parameters,
  Query extends Parameters = Parameters,
  Body extends z.ZodType = z.ZodType,
  Responses extends Answers = Answers,
> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/admin/api`, with `:name` and `*name`. */
  readonly path: string;
  readonly tag:
    | 'Health'
    | 'Deliveries'
    | 'Jobs'
    | 'Quarantine'
    | 'Replays'
    | 'Subscribers'
    | 'Security'
    | 'Description';
  readonly summary: string;
  /** Right that the token needs; null for none. */
  readonly right: Right | null;
  /** Schemas of restricted path parameters; other values are answered 404. */
  readonly params?: Path;
  /** Query parameters; unknown and repeated ones are answered 400. */
  readonly query?: Query;
  /** The JSON body; a missing one counts as `{}`. */
  readonly body?: Body;
  /** Fields of a `multipart/form-data` body, for the document only: the handler reads the form itself. */
  readonly form?: z.ZodType;
  readonly answers: Responses;
  /** Problems in addition to those of every operation. */
  readonly problems?: readonly ProblemCode[];
  /** Whether a download ticket is accepted instead of a token, for links, which cannot send headers. */
  readonly ticket?: boolean;
  /** Whether a read has a deadline of its own and waits for no slot, so that operators get an answer while other reads hang. */
  readonly isUrgent?: boolean;
}

/** A request to the admin API after sign-in. */
export interface AdminRequest {
  /** Decoded path parameters; a wildcard's segments are joined by `/`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Parsed JSON; undefined when there was no body. */
  readonly body: unknown;
  readonly access: Access;
  /** Name of the token that was presented. */
  readonly actor: string;
  /** Address of the client as its socket has it; undefined when the connection has ended already. */
  readonly peer: string | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** For reads with a JSON answer and for previews: aborts when no client waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A request whose input was parsed by the schemas of the route. */
interface AdminCall<Path extends Parameters, Query extends Parameters, Body extends z.ZodType>
  extends Omit<AdminRequest, 'params' | 'query' | 'body'> {
  readonly params: Readonly<Record<string, string>> & { readonly [Name in keyof Path]: z.output<Path[Name]> };
  readonly query: z.output<z.ZodObject<Query>>;
  readonly body: z.output<Body>;
}

/** An answer as JSON. */
export interface AdminAnswer<Status extends number = number, Content = unknown> {
  readonly status: Status;
  readonly body: Content;
}

/** Null for downloads and answers without a body, which the handler sends itself. */
type AnswerOf<Responses extends Answers> = {
  [Status in keyof Responses & number]: Responses[Status] extends z.ZodType
    ? AdminAnswer<Status, Answer<Responses[Status]>>
    : null;
}[keyof Responses & number];

/** One operation of the admin API, ready to be mounted. */
export interface AdminRoute extends RouteContract {
  /** Null when the handler has sent the answer itself. Rejects with `Problem`. */
  readonly handle: (request: AdminRequest) => Promise<AdminAnswer | null>;
}

/** Declares an operation. `handle` gets the parsed input, and its result is typed by the schemas of the answers. */
export function adminRoute<
  Responses extends Answers,
  Path extends Parameters = Record<never, never>,
  Query extends Parameters = Record<never, never>,
  Body extends z.ZodType = z.ZodUndefined,
>({
  handle,
  ...contract
}: RouteContract<Path, Query, Body, Responses> & {
  readonly handle: (call: AdminCall<Path, Query, Body>) => Promise<AnswerOf<Responses>>;
}): AdminRoute {
  const pathSchema = z.looseObject(contract.params ?? {});
  const querySchema = z.strictObject(contract.query ?? {});
  return {
    ...contract,
    async handle({ params, query, body, ...request }) {
      const call = {
        ...request,
        params: readPath(pathSchema, params),
        query: readQuery(querySchema, query),
        body: contract.body === undefined ? undefined : parseBody(contract.body, body),
      };
      return handle(call as AdminCall<Path, Query, Body>);
    },
  };
}

/** Throws `not-found` for a path that cannot exist. */
function readPath(schema: z.ZodType, params: AdminRequest['params']): unknown {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  throw new Problem('not-found', result.error.issues[0]?.message ?? 'There is nothing at this path.');
}

export function ok<Content>(body: Content): AdminAnswer<200, Content> {
  return { status: 200, body };
}

export function accepted<Content>(body: Content): AdminAnswer<202, Content> {
  return { status: 202, body };
}

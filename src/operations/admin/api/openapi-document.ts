import { z } from 'zod';
import { Problem, type ProblemCode } from '../../../domain/problem.js';
import { problemSchema } from '../../answers/problem.js';
import type { RouteContract } from './admin-route.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** JSON Schema of a zod schema: `input` for requests, `output` for answers. */
type ToJsonSchema = (schema: z.ZodType, io: 'input' | 'output') => JsonObject;

/** The admin API in OpenAPI 3.1, made from the contracts of its routes. */
export function openApiDocument(routes: readonly RouteContract[], version: string): JsonObject {
  const schemas: Record<string, unknown> = {};
  const toJsonSchema = schemaCollector(schemas);
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.replace(/[:*](\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, toJsonSchema) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Transcript Receiver: admin API',
      version,
      description: 'What arrived, what failed, what is missing, and what to do about it.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/admin/api' }],
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas },
  };
}

/** Collects named schemas (`id` in their metadata) in `schemas`, and refers to them. */
function schemaCollector(schemas: Record<string, unknown>): ToJsonSchema {
  return (schema, io) => {
    // Wrapped in a tuple, because a schema at the root would be inlined instead of referred to.
    const { prefixItems: [json] = [], $defs = {} } = z.toJSONSchema(z.tuple([schema]), {
      io,
      override: ({ jsonSchema }) => {
        // Redundant with format and type.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      },
    });
    for (const [name, { id: _id, ...named }] of Object.entries($defs)) schemas[name] = referring(named);
    return referring(json);
  };
}

function referring<T>(schema: T): T & JsonObject {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function operation(route: RouteContract, toJsonSchema: ToJsonSchema): JsonObject {
  const { tag, summary, path, right, params = {}, query = {} } = route;
  const names = [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name);
  const parameters = [
    ...names.map((name) => parameter('path', name, params[name] ?? z.string(), toJsonSchema)),
    ...Object.entries(query).map(([name, schema]) => parameter('query', name, schema, toJsonSchema)),
  ];
  return {
    summary,
    ...(right === null ? {} : { description: `Needs the right \`${right}\`.`, 'x-right': right }),
    tags: [tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(route, toJsonSchema),
    responses: { ...answers(route, toJsonSchema), ...problems(route, toJsonSchema) },
  };
}

/** Uses the output schema, because the input of a parameter is always text, while the output has the number and its bounds. */
function parameter(place: 'path' | 'query', name: string, schema: z.ZodType, toJsonSchema: ToJsonSchema) {
  const { description, ...json } = toJsonSchema(schema, 'output');
  return {
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    ...(place === 'path' ? { required: true } : {}),
    schema: json,
  };
}

function requestBody({ body, form }: RouteContract, toJsonSchema: ToJsonSchema) {
  const json = body && { content: { 'application/json': { schema: toJsonSchema(body, 'input') } } };
  const multipart = form && {
    required: true,
    content: { 'multipart/form-data': { schema: toJsonSchema(form, 'input') } },
  };
  const requestBody = json ?? multipart;
  return requestBody === undefined ? {} : { requestBody };
}

const MEANINGS: Readonly<Record<string, string>> = {
  200: 'Done',
  202: 'Started',
  206: 'The requested range',
  304: 'Not modified',
};

function answers(route: RouteContract, toJsonSchema: ToJsonSchema): JsonObject {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, answer]) => [
      status,
      { description: MEANINGS[status] ?? 'Done', ...answerContent(answer, toJsonSchema) },
    ]),
  );
}

function answerContent(answer: RouteContract['answers'][number] | undefined, toJsonSchema: ToJsonSchema) {
  if (answer === null || answer === undefined) return {};
  if ('contentTypes' in answer) {
    return { content: Object.fromEntries(answer.contentTypes.map((type) => [type, {}])) };
  }
  return { content: { 'application/json': { schema: toJsonSchema(answer, 'output') } } };
}

/** Every problem that a route can answer with. */
export function problemCodesOf({ method, right, body, problems = [] }: RouteContract): ProblemCode[] {
  const isRead = method === 'GET' && right !== null;
  return [
    'request-invalid',
    'credential-invalid',
    'too-many-attempts',
    'right-missing',
    ...problems,
    ...(body === undefined ? [] : ['body-too-slow' as const, 'body-too-large' as const]),
    'store-unavailable',
    ...(isRead ? ['overloaded' as const] : []),
    ...(method === 'GET' ? [] : ['draining' as const]),
  ];
}

function problems(route: RouteContract, toJsonSchema: ToJsonSchema): JsonObject {
  const content = { 'application/problem+json': { schema: toJsonSchema(problemSchema, 'output') } };
  const byStatus = new Map<number, string[]>();
  for (const code of problemCodesOf(route)) {
    const { status, title } = new Problem(code, '');
    byStatus.set(status, [...(byStatus.get(status) ?? []), `${title} (\`${code}\`)`]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, meanings]) => [status, { description: meanings.join('; '), content }]),
  );
}

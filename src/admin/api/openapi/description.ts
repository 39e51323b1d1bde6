import { OPERATIONS, type OperationNotes } from './operations.js';
import { ref, SCHEMAS } from './schemas.js';

/** The admin API in OpenAPI 3.1; a test holds it equal to the routes and their answers. */
export function describeApi(version: string): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [route, notes] of Object.entries(OPERATIONS)) {
    const [method = '', path = ''] = route.split(' ');
    const shown = path.replace(/[:*](\w+)/g, '{$1}');
    paths[shown] = { ...paths[shown], [method.toLowerCase()]: operation(path, notes) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Transcript Receiver: admin API',
      version,
      description: 'What arrived, what failed, what is missing, and what to do about it.',
    },
    servers: [{ url: '/admin/api' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: SCHEMAS,
    },
  };
}

function operation(path: string, { summary, tag, query = {}, body, answers, problems = [] }: OperationNotes) {
  const inPath = [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }));
  const refused = [400, 401, 429, ...problems, ...(body === undefined ? [] : [413]), 503];
  return {
    summary,
    tags: [tag],
    ...(inPath.length + inQuery.length === 0 ? {} : { parameters: [...inPath, ...inQuery] }),
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: { ...answersOf(answers), ...problemsOf(refused) },
  };
}

function requestBody(name: string) {
  if (name !== 'form') return { content: { 'application/json': { schema: ref(name) } } };
  const binary = { type: 'string', contentMediaType: 'application/octet-stream' };
  const schema = {
    type: 'object',
    description: 'source, kind and status come before the files; a file is named by its kind, or by `file`',
    properties: {
      source: { type: 'string' },
      kind: { type: 'string' },
      status: { type: 'string' },
      reason: { type: 'string' },
      file: binary,
    },
    additionalProperties: binary,
  };
  return { required: true, content: { 'multipart/form-data': { schema } } };
}

/** Content types of downloads; an artefact keeps its own where a browser cannot be made to run it. */
const DOWNLOADS: Readonly<Record<string, readonly string[]>> = {
  bytes: ['application/octet-stream'],
  artefact: [
    'application/json',
    'text/plain',
    'application/x-subrip',
    'audio/*',
    'video/*',
    'application/octet-stream',
  ],
};

function answersOf(answers: OperationNotes['answers']) {
  return Object.fromEntries(
    Object.entries(answers).map(([status, name]) => [status, { description: 'Done', ...contentOf(name) }]),
  );
}

function contentOf(name: string | null) {
  if (name === null) return {};
  const types = DOWNLOADS[name];
  if (types !== undefined) return { content: Object.fromEntries(types.map((type) => [type, {}])) };
  return { content: { 'application/json': { schema: ref(name) } } };
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'No valid token',
  404: 'Not known here',
  409: 'The state does not allow it',
  413: 'Too large',
  416: 'The range lies outside the artefact',
  429: 'Too many failed attempts',
  502: 'The speech service could not be asked',
  503: 'The store cannot be asked now',
};

function problemsOf(statuses: readonly number[]) {
  const content = { 'application/problem+json': { schema: ref('Problem') } };
  return Object.fromEntries(statuses.map((status) => [status, { description: MEANINGS[status], content }]));
}

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { adminRoute, ok } from '../../../../../src/operations/admin/api/admin-route.js';
import { safeContentType } from '../../../../../src/operations/admin/api/content/download.js';
import { openApiDocument } from '../../../../../src/operations/admin/api/openapi-document.js';
import { API_ROUTES } from '../../../../support/admin-api-routes.js';
import { contractFault } from '../../../../support/answer-contract.js';

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const document = openApiDocument(API_ROUTES, '1.2.3') as unknown as Document;
const operations = Object.values(document.paths).flatMap((byMethod) => Object.values(byMethod));

/** The newest one that the OpenAPI Initiative published, with references that ajv resolves. */
const OPENAPI_SCHEMA = JSON.parse(
  readFileSync(
    createRequire(import.meta.url).resolve('@seriousme/openapi-schema-validator/schemas/v3.1/schema.json'),
    'utf8',
  ),
);

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1, and so is every schema in it', () => {
    const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
    const validate = ajv.compile(OPENAPI_SCHEMA);
    expect(validate(document) ? [] : validate.errors).toEqual([]);
    ajv.addSchema({ $id: 'api', components: document.components });
    for (const name of Object.keys(document.components.schemas)) {
      ajv.compile({ $ref: `api#/components/schemas/${name}` });
    }
  });

  it('has every route, and no other', () => {
    const described = Object.entries(document.paths).flatMap(([path, byMethod]) =>
      Object.keys(byMethod).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const routed = API_ROUTES.map(({ method, path }) => `${method} ${path.replace(/[:*](\w+)/g, '{$1}')}`);
    expect(described.toSorted()).toEqual(routed.toSorted());
  });

  it('refers only to schemas that are there, and uses all of them', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
    const used = [...references].map(([, name = '']) => name);
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
    expect(JSON.stringify(document)).not.toContain('$defs');
  });

  it('names every parameter of a path, and bounds of numbers in the query', () => {
    for (const [path, byMethod] of Object.entries(document.paths)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters = [] } of Object.values(byMethod)) {
        expect(parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(inPath);
        for (const { name, schema } of parameters) {
          if (name === 'limit') expect(schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 500 });
        }
      }
    }
  });

  it('describes problems of every operation', () => {
    for (const { responses } of operations) {
      for (const status of ['400', '401', '429', '503']) {
        expect(Object.keys(responses[status]?.content ?? {})).toEqual(['application/problem+json']);
      }
    }
    expect(document.paths['/jobs/{id}/refetch']?.post?.responses['502']?.description).toContain(
      '`service-unreachable`',
    );
  });

  it('says which operations take a body', () => {
    const withBody = operations.filter(({ requestBody }) => requestBody !== undefined).length;
    expect(withBody).toBe(
      API_ROUTES.filter(({ body, form }) => body !== undefined || form !== undefined).length,
    );
  });
});

describe('the contract of a route', () => {
  it.each([
    'application/json',
    'text/plain; charset=utf-8',
    'application/x-subrip',
    'audio/wav',
    'video/mp4',
    'text/html',
  ])('declares an artefact stored as %s', (stored) => {
    for (const status of [200, 206]) {
      const answer = { status, type: safeContentType(stored), json: null };
      expect(contractFault('GET', '/jobs/j1/artefacts/data', answer)).toBeNull();
      expect(contractFault('GET', '/jobs/j1/artefacts/data', { ...answer, type: 'image/png' })).toMatch(
        /image/,
      );
    }
  });

  it('is broken by a member that no schema names, by an undeclared status and an undeclared problem', () => {
    const answer = { status: 200, type: 'application/json', json: { ticket: 't', expires: '2026-03-04' } };
    expect(contractFault('POST', '/jobs/j1/ticket', answer)).toMatch(/expires/);
    const json = { ticket: 't', expires: '2026-03-04T00:00:00.000Z' };
    expect(contractFault('POST', '/jobs/j1/ticket', { ...answer, json })).toBeNull();
    expect(contractFault('POST', '/jobs/j1/ticket', { ...answer, json: { ...json, more: 1 } })).toMatch(
      /more/,
    );
    expect(contractFault('POST', '/jobs/j1/ticket', { ...answer, json, status: 201 })).toMatch(/201/);
    const problem = { type: 't', title: 't', status: 409, code: 'conflict', detail: 'd' };
    const refused = { status: 409, type: 'application/problem+json', json: problem };
    expect(contractFault('POST', '/jobs/j1/acknowledge', refused)).toMatch(/conflict/);
    expect(contractFault('POST', '/jobs/j1/refetch', refused)).toBeNull();
  });

  it('reads input before the handler sees it', async () => {
    const seen: unknown[] = [];
    const route = adminRoute({
      method: 'POST',
      path: '/:id',
      right: null,
      tag: 'Jobs',
      summary: '',
      params: { id: z.string().regex(/^j/, 'No such id.') },
      query: { limit: z.coerce.number().optional() },
      body: z.strictObject({ reason: z.string().default('none') }),
      answers: { 200: z.strictObject({}) },
      async handle({ params, query, body }) {
        seen.push(params.id, query.limit, body.reason);
        return ok({});
      },
    });
    const send = (id: string, query: string, body?: unknown) =>
      route.handle({ params: { id }, query: new URLSearchParams(query), body } as never);
    await send('j1', 'limit=3');
    expect(seen).toEqual(['j1', 3, 'none']);
    await expect(send('x', '')).rejects.toMatchObject({ code: 'not-found', message: 'No such id.' });
    await expect(send('j1', 'limt=3')).rejects.toMatchObject({ code: 'request-invalid' });
    await expect(send('j1', '', { colour: 'blue' })).rejects.toMatchObject({ code: 'request-invalid' });
  });
});

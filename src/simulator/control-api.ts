import { RETRIEVABLE_KINDS } from '../domain/kinds.js';
import { FAULT_KINDS, type Fault, isFaultKind } from './faults.js';
import { type Answer, apiError, type Call, type Handler, readJson } from './http-server.js';
import type { Simulator, Submission } from './simulator-interface.js';

/**
 * The simulator's own interface over HTTP, for tests in other processes and for `curl`:
 *
 * - `GET /` addresses and API key
 * - `POST /jobs` a submission; `GET /jobs`, `GET /jobs/<id>`, `PUT /jobs/<id>/status` `{"status"}`
 * - `GET /jobs/<id>/expected` sizes and hashes, `GET /jobs/<id>/expected/<item>` the bytes
 * - `GET|POST|DELETE /faults`, `DELETE /faults/<name>`
 * - `GET /deliveries?job=<id>`
 * - `POST /idle` answers when nothing is in flight
 */
export function controlApi(simulator: Simulator): Handler {
  return async (call) => {
    try {
      return (await route(call, simulator)) ?? apiError(404, 'Not Found');
    } catch (error) {
      if (error instanceof RangeError) return apiError(400, 'Bad Request', error.message);
      throw error;
    }
  };
}

async function route(call: Call, simulator: Simulator): Promise<Answer | null> {
  const [resource, ...rest] = call.path;
  if (resource === undefined) return call.method === 'GET' ? ok(overview(simulator)) : null;
  if (resource === 'jobs') return jobsRoute(call, rest, simulator);
  if (resource === 'faults') return faultsRoute(call, rest[0], simulator);
  if (resource === 'deliveries' && call.method === 'GET') {
    const job = call.query.get('job');
    const { deliveries } = simulator;
    return ok({ deliveries: job === null ? deliveries.attempts : deliveries.ofJob(job) });
  }
  if (resource !== 'idle' || call.method !== 'POST') return null;
  await simulator.idle();
  return ok({ idle: true });
}

function overview({ apiKey, keysUrl, batchUrls, realtimeUrl, seed }: Simulator) {
  return { apiKey, keysUrl, batchUrls, realtimeUrl, seed };
}

async function jobsRoute(call: Call, rest: readonly string[], simulator: Simulator): Promise<Answer | null> {
  const [id, what, item] = rest;
  if (id === undefined) {
    if (call.method === 'GET') return ok({ jobs: simulator.jobs() });
    if (call.method !== 'POST') return null;
    const { id: made, region } = simulator.submit(submission(await readJson(call.body)));
    return { status: 201, json: { id: made, region } };
  }
  const job = simulator.job(id);
  if (!job) return apiError(404, 'Job not found');
  if (what === undefined) return call.method === 'GET' ? ok({ region: simulator.regionOf(id), job }) : null;
  if (what === 'status' && call.method === 'PUT') {
    const status = asObject(await readJson(call.body)).status;
    if (typeof status !== 'string') throw new RangeError('status: required');
    simulator.setStatus(id, status);
    return ok({ job: simulator.job(id) });
  }
  if (what !== 'expected' || call.method !== 'GET') return null;
  return item === undefined ? ok(await expectations(id, simulator)) : expectedBytes(id, item, simulator);
}

async function expectations(id: string, simulator: Simulator): Promise<Record<string, unknown>> {
  const items = simulator.expected(id);
  const described = RETRIEVABLE_KINDS.map(
    async (item) => [item, { size: items[item].size, sha256: await items[item].sha256() }] as const,
  );
  return Object.fromEntries(await Promise.all(described));
}

function expectedBytes(id: string, item: string, simulator: Simulator): Answer | null {
  const kind = RETRIEVABLE_KINDS.find((each) => each === item);
  if (kind === undefined) return null;
  const { size, chunks } = simulator.expected(id)[kind];
  return { status: 200, content: { size, contentType: 'application/octet-stream', chunks } };
}

async function faultsRoute(
  call: Call,
  name: string | undefined,
  simulator: Simulator,
): Promise<Answer | null> {
  const { faults } = simulator;
  if (call.method === 'GET' && name === undefined) return ok({ faults: faults.list() });
  if (call.method === 'POST' && name === undefined) {
    const fault = asObject(await readJson(call.body));
    if (!isFaultKind(fault.kind)) throw new RangeError(`kind: one of ${FAULT_KINDS.join(', ')}`);
    return { status: 201, json: { name: faults.add(fault as unknown as Fault) } };
  }
  if (call.method !== 'DELETE') return null;
  if (name === undefined) faults.clear();
  else if (!faults.remove(name)) return apiError(404, 'Fault not found');
  return ok({ faults: faults.list() });
}

/** Reads a submission; uploads go to the jobs API. */
function submission(body: unknown): Submission {
  const { media: _media, ...rest } = asObject(body);
  return rest as unknown as Submission;
}

function asObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError('A JSON object is expected');
  return value as Record<string, unknown>;
}

function ok(json: unknown): Answer {
  return { status: 200, json };
}

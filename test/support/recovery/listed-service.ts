import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CALLBACK_URL } from './recovery-fixture.js';

export interface ListedJob {
  readonly id: string;
  readonly createdAt: number;
}

/** What a list in the order given, whatever the times of its jobs, has on one page. */
export function listedPage<T extends ListedJob>(
  jobs: readonly T[],
  before: number | null,
  limit: number,
): T[] {
  return jobs.filter(({ createdAt }) => before === null || createdAt < before).slice(0, limit);
}

/** For each job, the number of older ones that the list has before it. */
export function displacements(jobs: readonly ListedJob[]): Map<string, number> {
  return new Map(
    jobs.map(({ id, createdAt }, index) => [
      id,
      jobs.slice(0, index).filter((each) => each.createdAt < createdAt).length,
    ]),
  );
}

/** A jobs API that shows done jobs in the order given, whatever their times. */
export async function startListedService(jobs: readonly ListedJob[]) {
  const record = ({ id, createdAt }: ListedJob) => ({
    id,
    status: 'done',
    created_at: new Date(createdAt).toISOString(),
    config: { type: 'transcription', notification_config: [{ url: CALLBACK_URL, contents: ['transcript'] }] },
  });
  // No idle timeout: after the process was suspended, a request would race with the close.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
    const [, id, part] = /^\/v2\/jobs\/?([^/]*)\/?(.*)$/.exec(pathname) ?? [];
    const answer = (body: unknown) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    };
    if (id === '') {
      const before = Date.parse(searchParams.get('created_before') ?? '') || null;
      return answer({ jobs: listedPage(jobs, before, Number(searchParams.get('limit') ?? 100)).map(record) });
    }
    const job = jobs.find((each) => each.id === id);
    if (job === undefined) {
      response.statusCode = 404;
      return answer({ code: 404, error: 'Job not found' });
    }
    if (part !== 'transcript') return answer({ job: record(job) });
    return answer({ format: '2.9', job: { id: job.id }, metadata: {}, results: [] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    batchUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

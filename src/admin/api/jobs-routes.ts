import { z } from 'zod';
import { jobFolder } from '../../archive/layout.js';
import { isJobId } from '../../domain/job.js';
import { Problem } from '../../domain/problem.js';
import type { ObjectInfo } from '../../store/object-store.js';
import { readBody, readQuery } from '../../text/read-input.js';
import type { SignIn } from '../access/sign-in.js';
import { type InspectParts, inspectJob } from '../jobs/inspect-job.js';
import { type AdminRoute, ok } from './admin-route.js';
import { safeContentType, sendObject } from './download.js';
import type { DownloadGate } from './download-gate.js';

export interface JobsRouteParts extends InspectParts {
  readonly signIn: Pick<SignIn, 'issueTicket'>;
  readonly downloads: DownloadGate;
}

export function jobsRoutes(parts: JobsRouteParts): AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/jobs/:id',
      async handle({ params, query }) {
        readQuery(z.strictObject({}), query);
        const story = await inspectJob(parts, jobIdOf(params));
        if (story === null) throw new Problem('not-found', 'Nothing is known here of this job.');
        return ok(story);
      },
    },
    {
      method: 'GET',
      path: '/jobs/:id/artefacts/*path',
      ticket: true,
      async handle({ params, query, request, response }) {
        readQuery(z.strictObject({ ticket: z.string().optional() }), query);
        const info = await findArtefact(parts, jobIdOf(params), params.path ?? '');
        if (info === null) throw new Problem('not-found', 'There is no such artefact.');
        const form = { contentType: safeContentType(info.contentType), fileName: fileNameOf(info) };
        await sendObject(parts, info, form, request, response);
        return null;
      },
    },
    {
      method: 'POST',
      path: '/jobs/:id/ticket',
      takes: 'json',
      async handle({ params, body, actor }) {
        readBody(z.strictObject({}), body);
        return ok(await parts.signIn.issueTicket(actor, jobIdOf(params)));
      },
    },
  ];
}

/** The id in a path. Throws `not-found` for what no job can be called. */
export function jobIdOf({ id = '' }: Readonly<Record<string, string>>): string {
  if (!isJobId(id)) throw new Problem('not-found', 'No job can have this id.');
  return id;
}

/** `path` is what follows the job's folder, or a whole key as the artefacts are listed with. */
async function findArtefact(
  { store, keyPrefixes }: JobsRouteParts,
  jobId: string,
  path: string,
): Promise<ObjectInfo | null> {
  if (path.split('/').some((segment) => segment === '' || segment.startsWith('.'))) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no key of ours holds any
  if (path.length > 700 || /[\x00-\x1f\x7f\\]/.test(path)) return null;
  for (const prefix of new Set(keyPrefixes)) {
    const folder = jobFolder(prefix, jobId);
    const info = await store.head(path.startsWith(folder) ? path : folder + path);
    if (info !== null) return info;
  }
  return null;
}

/** The job's id leads, so that downloads of several jobs can be told apart. */
function fileNameOf({ key, metadata }: ObjectInfo): string {
  const original = metadata['file-name'];
  const name = original === undefined ? key.slice(key.lastIndexOf('/') + 1) : decoded(original);
  return `${metadata['job-id'] ?? 'job'}-${name}`;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

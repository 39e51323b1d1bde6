import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sendCallback } from './admin-api.js';
import type { RunningService } from './running-service.js';

/** A callback whose body is in quarantine, because its content type has lost the boundary. */
export interface MendableCallback {
  readonly status: number;
  readonly deliveryId: string;
  /** Makes the body decodable from now on, as a fix of the program would. */
  mend(): Promise<void>;
}

export async function sendMendable(
  service: Pick<RunningService, 'publicUrl' | 'folder'>,
  query: string,
  form: FormData,
  headers: Record<string, string> = {},
): Promise<MendableCallback> {
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? '';
  const body = Buffer.from(await encoded.arrayBuffer());
  const { status, json } = await sendCallback(service, query, body, {
    ...headers,
    'content-type': 'multipart/form-data',
  });
  const deliveryId = String(json.deliveryId);
  return {
    status,
    deliveryId,
    async mend() {
      const file = join(service.folder, 'quarantine', deliveryId, 'request.json');
      const request = JSON.parse(await readFile(file, 'utf8'));
      request.headers['content-type'] = contentType;
      await writeFile(file, JSON.stringify(request));
    },
  };
}

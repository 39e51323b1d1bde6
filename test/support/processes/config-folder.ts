import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Makes a folder holding `files` (name to content); the caller removes it with `remove`. */
export function configFolder(files: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'transcript-receiver-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

// prune-packages.mjs FOLDER...: removes files that no program loads from installed packages and from the build: types, source maps,
// documentation, and npm's own notes, which differ from version to version. Licences stay.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

const UNUSED = /(\.d\.[cm]?ts|\.map|\.package-lock\.json)$/i;
const DOCUMENTATION = /^(?!.*(licen[cs]e|copying|notice)).*\.(md|markdown)$/i;

for (const folder of process.argv.slice(2)) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && (UNUSED.test(entry.name) || DOCUMENTATION.test(entry.name))) {
      rmSync(path.join(entry.parentPath, entry.name));
    }
  }
}

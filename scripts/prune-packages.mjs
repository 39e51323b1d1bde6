// prune-packages.mjs FOLDER: removes from installed packages what no program loads: types, source maps, documentation and npm's own notes, which
// differ from version to version. Licences stay.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

const UNUSED = /(\.d\.[cm]?ts|\.map|\.md|\.markdown|\.package-lock\.json)$/i;
const LICENCE = /licen[cs]e|copying|notice/i;

const [folder] = process.argv.slice(2);
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (entry.isFile() && UNUSED.test(entry.name) && !LICENCE.test(entry.name)) {
    rmSync(path.join(entry.parentPath, entry.name));
  }
}

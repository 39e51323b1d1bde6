// sbom.mjs: prints a CycloneDX bill of materials of what `npm ci --omit=dev` installs, by the lock file. The same lock file gives the
// same bytes: npm's serial number and time are left out, so that the image that holds it is reproducible. With --with-node the Node that
// runs this script is listed as well: the image brings that one.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url);
const { name, packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
const shipped = new Set(
  Object.entries(packages)
    .filter(([path, entry]) => path !== '' && !entry.dev && !entry.devOptional && !entry.link)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`),
);

// Not with --omit=dev: npm then leaves out what both a dependency and a development dependency need.
const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  cwd: fileURLToPath(root),
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
const { serialNumber: _, metadata, components, dependencies, ...rest } = JSON.parse(text);
const { timestamp: __, ...facts } = metadata;
// npm takes the name of the folder for the name of the component.
facts.component.name = name;
const node = {
  'bom-ref': `node@${process.versions.node}`,
  type: 'platform',
  name: 'node',
  version: process.versions.node,
  purl: `pkg:generic/node@${process.versions.node}`,
};
const identity = ({ name, group, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`;
const kept = components.filter((each) => shipped.has(identity(each)));
const listed = new Set(kept.map(identity));
const missing = [...shipped].filter((each) => !listed.has(each));
if (missing.length > 0) throw new Error(`npm's bill of materials lacks ${missing.join(', ')}`);
const references = new Set([facts.component['bom-ref'], ...kept.map((each) => each['bom-ref'])]);
const tree = dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => references.has(each)) }));
const all = process.argv.includes('--with-node') ? [...kept, node] : kept;
console.log(JSON.stringify({ ...rest, metadata: facts, components: all, dependencies: tree }, null, 2));

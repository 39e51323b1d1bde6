// licences.mjs [--check]: lists what `npm ci --omit=dev` installs with its licence, by the lock file. With --check it lists only
// packages whose licence is missing or not accepted below, and ends with 1 if there are any.
import { existsSync, readFileSync } from 'node:fs';

/** Permissive ones; any other needs a review. */
const ACCEPTED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'BlueOak-1.0.0',
  'Unlicense',
];

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const shipped = Object.entries(packages)
  .filter(([path, entry]) => path !== '' && !entry.dev && !entry.devOptional && !entry.link)
  .map(([path, { version, license }]) => ({
    name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    version,
    licence: license ?? olderForm(path) ?? 'none named',
  }))
  .sort((a, b) => a.name.localeCompare(b.name, 'en'));

/** Packages from before 2014 hold `licenses: [{ type }]`, which the lock file leaves out. */
function olderForm(path) {
  const file = new URL(`../${path}/package.json`, import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).licenses?.[0]?.type : undefined;
}

/** `(MIT OR GPL-2.0)` is fine when one of the choices is. */
const isAccepted = (licence) =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => ACCEPTED.includes(choice));
const rejected = shipped.filter(({ licence }) => !isAccepted(licence));
const listed = process.argv.includes('--check') ? rejected : shipped;
for (const { name, version, licence } of listed) console.log(`${licence.padEnd(14)}  ${name} ${version}`);
if (process.argv.includes('--check')) process.exitCode = rejected.length === 0 ? 0 : 1;

// release-version.mjs [--notes] vX.Y.Z: prints `version=X.Y.Z` when package.json, lock file and the newest section of the changelog are of
// that version, else says what is not and ends with 1. With --notes it prints that section.
import { readFileSync } from 'node:fs';

const args = process.argv.slice(2);
const notes = args[0] === '--notes';
const tag = args[notes ? 1 : 0] ?? '';
const version = tag.replace(/^v/, '');
const textOf = (file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

const [, ...sections] = textOf('CHANGELOG.md').split(/^## /m);
const unreleased = sections[0]?.startsWith('[Unreleased]') ? sections.shift() : '';
const section = sections[0] ?? '';
const faults = [
  /^v\d+\.\d+\.\d+$/.test(tag) ? null : `${JSON.stringify(tag)} is not vX.Y.Z`,
  ...['package.json', 'package-lock.json'].map((file) => {
    const found = JSON.parse(textOf(file)).version;
    return found === version ? null : `${file} is of version ${found}`;
  }),
  section.startsWith(`[${version}] - `) ? null : 'the newest section of CHANGELOG.md is of another version',
  /^\s*$/.test(unreleased.replace('[Unreleased]', '')) ? null : 'CHANGELOG.md has unreleased entries',
].filter((fault) => fault !== null);

if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}
console.log(notes ? section.slice(section.indexOf('\n')).trim() : `version=${version}`);

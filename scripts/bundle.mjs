// Bundles the program into dist/main.js and dist/chunks: its own modules and the packages it uses, in a few files. Loading them takes
// half the time of the thousand files they are made of; docs/decisions/bundle.md has the figures. What others import (package.json,
// "exports") stays as the compiler writes it.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

// node-config looks for its parsers, and for the folder of its files, when it runs.
const EXTERNAL = ['config'];

const bundled = (file) => fileURLToPath(new URL(`bundled/${file}`, import.meta.url));
const unused = bundled('unused.cjs');
const installed = (file) => fileURLToPath(new URL(`../node_modules/${file}`, import.meta.url));
/** Other files than the names of these packages stand for, because theirs would bring much that nothing here calls. */
const REPLACED = {
  // Its ECMAScript modules, of which only the commands that are used are bundled.
  '@aws-sdk/client-s3': installed('@aws-sdk/client-s3/dist-es/index.js'),
  // Express's, also for multer, which would bring a second list of media types.
  'type-is': installed('type-is/index.js'),
  undici: bundled('undici.mjs'),
  // Express makes parsers of bodies and queries; the admin port reads its JSON itself, and no query is parsed.
  'body-parser': unused,
  qs: unused,
  // Exemplars of prom-client's default metrics.
  '@opentelemetry/api': unused,
};

const { output } = await build({
  input: 'src/main.ts',
  platform: 'node',
  external: EXTERNAL,
  resolve: { alias: REPLACED, extensionAlias: { '.js': ['.ts', '.js'] } },
  logLevel: 'warn',
  write: false,
  output: {
    dir: 'dist',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: !process.argv.includes('--no-sourcemap'),
  },
});

// Chunks come before the entry that names them, and old ones go last: a program may start meanwhile.
mkdirSync('dist/chunks', { recursive: true });
for (const each of output.toSorted(
  (one, other) => Number(one.isEntry ?? false) - Number(other.isEntry ?? false),
)) {
  writeFileSync(`dist/${each.fileName}`, each.type === 'chunk' ? asAscii(each.code) : each.source);
}
const written = new Set(output.map(({ fileName }) => fileName));
for (const file of readdirSync('dist/chunks'))
  if (!written.has(`chunks/${file}`)) rmSync(`dist/chunks/${file}`);

const modules = output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licencesOf(modules));

/** The licences of the bundled packages, which have to go with their code: each text once, below the packages that have it. */
function licencesOf(files) {
  const folders = new Set(
    files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []),
  );
  const packages = new Map();
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const notices = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    const text = notices.map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim()).join('\n\n');
    packages.set(text, [...(packages.get(text) ?? []), `${name} ${version} (${license ?? 'see below'})`]);
  }
  const sections = [...packages].map(([text, names]) => `${names.sort().join('\n')}\n\n${text}`.trim());
  return `${sections.sort().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/**
 * Node keeps the text of each file that it loads, and two bytes for each character of a file with a single one beyond ASCII. An escape
 * means the same in texts, patterns and names; a backslash before such a character means nothing, but would take the one of the escape.
 */
function asAscii(code) {
  return code.replace(/(\\*)([^\0-\x7f])/g, (_, backslashes, character) => {
    const before = backslashes.slice(backslashes.length % 2);
    return `${before}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

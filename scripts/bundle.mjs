// Bundles the program, the worker of the index and the packages that they use into dist/main.js, dist/index-worker.js and dist/chunks:
// resolving, reading and compiling a thousand files takes about half of the CPU time of a start. What other programs import
// (package.json, "exports") stays as the compiler writes it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'rolldown';

/**
 * `import 'node:http'` reads each of its exports, and with WebSocket and its events Node loads an undici of its own, which nothing here
 * uses: a tenth of a start.
 */
const httpWithoutWebSocket = {
  name: 'http-without-web-socket',
  resolveId: (id, _importer, { kind }) =>
    id === 'node:http' && kind !== 'require-call' ? '\0node-http.cjs' : null,
  load: (id) => (id === '\0node-http.cjs' ? `module.exports = process.getBuiltinModule('node:http')` : null),
};

const inAscii = (text) => text.normalize('NFD').replace(/[^\0-\x7F]/g, '');
/** One letter beyond ASCII makes V8 keep a chunk with two bytes for each. Those of code are escaped, not those of licences in comments. */
const commentsInAscii = {
  name: 'comments-in-ascii',
  renderChunk: (code) => ({ code: code.replace(/\/\*!.*?\*\//gs, inAscii), map: null }),
};

const { output } = await build({
  input: { main: 'src/main.ts', 'index-worker': 'src/index/index-worker.ts' },
  platform: 'node',
  // The ECMAScript modules of packages that have both, so that what nothing uses of them is left out.
  resolve: { mainFields: ['module', 'main'], extensionAlias: { '.js': ['.ts', '.js'] } },
  plugins: [httpWithoutWebSocket, commentsInAscii],
  logLevel: 'warn',
  output: {
    dir: 'dist',
    charset: 'ascii',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: !process.argv.includes('--no-sourcemap'),
  },
});

// Chunks of older builds, which nothing names any more.
const written = new Set(output.map(({ fileName }) => fileName));
for (const file of readdirSync('dist/chunks'))
  if (!written.has(`chunks/${file}`)) rmSync(`dist/chunks/${file}`);

const modules = output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
const packages = new Set(
  modules.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []),
);
const licences = [...packages].sort().map(licenceOf);
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licences.join(`\n${'-'.repeat(80)}\n\n`));

/** A package's name and its licence, which has to go with its code. */
function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const notices = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = notices.map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim());
  return `${[`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n')}\n`;
}

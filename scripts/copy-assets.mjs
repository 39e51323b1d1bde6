// Copies the dashboard's static files to dist, because tsc emits TypeScript only. Its libraries, which come from the installed
// packages, and the modules that it shares with the receiver are written into the source folder as well, so that the page is
// complete when run from source.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { transformFileSync } from '@swc/core';

const PAGE = 'operations/dashboard';
const DOMAIN = [
  'erasure-words',
  'event-attempts',
  'failure-causes',
  'failure-rules',
  'given-up',
  'job',
  'job-state',
  'kinds',
  'line-filters',
  'next-steps',
  'other-work',
  'reasons',
  'recovery-outcome',
  'recovery-run',
  'submitted-words',
  'summary-groups',
].map((name) => `domain/${name}`);
/** These import only each other and the modules above. */
const ISSUES = ['describe-issue', 'issue-kinds', 'phrases', 'verdict-words']
  .map((name) => `operations/issues/${name}`)
  .concat(
    'index/index-extent',
    'index/summary-words',
    'store/store-remedies',
    'lib/text/amounts',
    'lib/text/plural',
  );
/** Folders of src that paths in vendor leave out. */
const OMITTED_FOLDER = /^(domain|lib|operations)\//;
const { resolve } = createRequire(import.meta.url);
const uplot = dirname(resolve('uplot'));
const vendor = join('src', PAGE, 'vendor');

cpSync(join(uplot, 'uPlot.esm.js'), join(vendor, 'uplot.js'));
cpSync(join(uplot, 'uPlot.min.css'), join(vendor, 'uplot.css'));
const written = new Set(['uplot.js']);
for (const module of [...DOMAIN, ...ISSUES]) {
  const { code } = transformFileSync(join('src', `${module}.ts`), {
    swcrc: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  const name = `${module.replace(OMITTED_FOLDER, '')}.js`;
  const file = join(vendor, name);
  written.add(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code.replaceAll(/(['"])(?:\.\.\/)+(?:(?:domain|lib|operations)\/)?/g, '$1../'));
}
// Modules of earlier builds: the built page would preload them.
for (const name of readdirSync(vendor, { recursive: true }))
  if (name.endsWith('.js') && !written.has(name)) rmSync(join(vendor, name));
cpSync(join('src', PAGE), join('dist', PAGE), {
  recursive: true,
  filter: (path) => !/(\.d\.ts|tsconfig\.json)$/.test(path),
});
for (const name of readdirSync(join('dist', PAGE), { recursive: true }))
  if (!existsSync(join('src', PAGE, name)))
    rmSync(join('dist', PAGE, name), { recursive: true, force: true });

// The built page preloads its modules: a browser would find and request them one after the other.
const LAZY = ['main.js', 'views/charts/draw-chart.js', 'vendor/uplot.js'];
const page = join('dist', PAGE, 'index.html');
const modules = readdirSync(join('dist', PAGE), { recursive: true })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.js') && !LAZY.includes(file));
const links = modules.toSorted().map((file) => `    <link rel="modulepreload" href="${file}">\n`);
writeFileSync(page, readFileSync(page, 'utf8').replace('  </head>', `${links.join('')}  </head>`));

// tsc emits TypeScript only; the dashboard's static files travel beside it. Its chart library comes out of the
// installed package, into the source folder as well, so that the page is whole when run from source.
import { cpSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const PAGE = 'dashboard';
const uplot = dirname(createRequire(import.meta.url).resolve('uplot'));
const vendor = join('src', PAGE, 'vendor');

mkdirSync(vendor, { recursive: true });
cpSync(join(uplot, 'uPlot.esm.js'), join(vendor, 'uplot.js'));
cpSync(join(uplot, 'uPlot.min.css'), join(vendor, 'uplot.css'));
cpSync(join('src', PAGE), join('dist', PAGE), { recursive: true });

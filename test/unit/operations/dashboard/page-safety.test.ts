import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

/** The page shows text of untrusted senders; this test scans every file of it for unsafe DOM calls. */

const PAGE = fileURLToPath(new URL('../../../../src/operations/dashboard', import.meta.url));

const everything = readdirSync(PAGE, { recursive: true, encoding: 'utf8' }).map((file) =>
  file.split(path.sep).join('/'),
);
const files = everything.filter((file) => /\.(js|html|css|svg)$/.test(file) && !file.startsWith('vendor/'));
const text = (file: string) => readFileSync(path.join(PAGE, file), 'utf8');
const scripts = files.filter((file) => file.endsWith('.js'));

describe('the dashboard’s page', () => {
  it('is found', () => {
    expect(scripts.length).toBeGreaterThan(30);
  });

  it.each(scripts)('%s turns no text into markup, code or a new place', (file) => {
    const forbidden =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\b|new Function|\.srcdoc|window\.open|setTimeout\(\s*['"`]|\bcssText\b/;
    expect(text(file)).not.toMatch(forbidden);
  });

  it.each(scripts.filter((file) => file !== 'lib/elements/dom.js'))(
    '%s makes elements in one place only',
    (file) => {
      expect(text(file)).not.toMatch(/createElement|setAttribute\(\s*['"](href|src|style|on)/);
    },
  );

  it('announces its modules at once, so that they are not found one after the other', () => {
    const built = readFileSync('dist/operations/dashboard/index.html', 'utf8');
    const announced = [...built.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, href]) => href);
    const lazy = ['main.js', 'views/charts/draw-chart.js', 'vendor/uplot.js'];
    const modules = everything.filter((file) => file.endsWith('.js') && !lazy.includes(file));
    expect(announced.toSorted()).toEqual(modules.toSorted());
  });

  it('has every module that its modules ask for', () => {
    const modules = everything.filter((file) => file.endsWith('.js'));
    const asked = modules.flatMap((file) =>
      [...text(file).matchAll(/^(?:import|export|})[^\n']*from '(\.[^']+)'/gm)].map(([, to = '']) =>
        path.posix.join(path.posix.dirname(file), to),
      ),
    );
    expect(asked.length).toBeGreaterThan(300);
    expect(asked.filter((file) => !everything.includes(file))).toEqual([]);
  });

  it('has nothing inline and loads nothing from elsewhere', () => {
    const html = text('index.html');
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/i);
    for (const file of files) {
      const elsewhere = [...text(file).matchAll(/(?:https?:)?\/\/[a-z0-9.-]+\.[a-z]{2,}/gi)].map(
        ([url]) => url,
      );
      expect(elsewhere.filter((url) => !url.endsWith('//www.w3.org'))).toEqual([]);
    }
  });
});

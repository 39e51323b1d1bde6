import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../src/config/config.js';

/* The shipped balancer files agree with the receiver's defaults, and documents name tests that exist. */

const root = new URL('../../../', import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8');
const { receiver, limits } = parseConfig({});

/** The number of seconds behind a word of a file. */
function seconds(file: string, setting: string): number {
  const found = new RegExp(`^\\s*${setting} (\\d+)s;?$`, 'm').exec(textOf(file))?.[1];
  if (found === undefined) throw new Error(`${file} does not set ${setting}`);
  return Number(found) * 1000;
}

describe('the shipped balancer files', () => {
  it.each([
    ['deploy/haproxy.cfg', 'timeout client'],
    ['deploy/haproxy.cfg', 'timeout server'],
    ['deploy/nginx.conf', 'client_body_timeout'],
    ['deploy/nginx.conf', 'proxy_read_timeout'],
  ])('%s waits longer than the receiver: %s', (file, setting) => {
    expect(seconds(file, setting)).toBeGreaterThan(limits.idleTimeout);
  });

  it.each([
    ['deploy/haproxy.cfg', 'timeout http-keep-alive'],
    ['deploy/nginx.conf', 'keepalive_timeout'],
  ])('%s ends idle connections before the receiver does', (file, setting) => {
    expect(seconds(file, setting)).toBeLessThan(receiver.keepAliveTimeout);
  });

  it('deploy/haproxy.cfg leaves a draining replica before it stops taking requests', () => {
    const [, interval, fall] = /check inter (\d+)s fall (\d+)/.exec(textOf('deploy/haproxy.cfg')) ?? [];
    expect(Number(interval) * Number(fall) * 1000).toBeLessThan(receiver.drainDelay);
  });
});

describe('documents', () => {
  it('docs/load-balancers.md has the figures of k8s/gateway/aws', () => {
    const files = ['load-balancer', 'target-group'].map((name) =>
      textOf(`k8s/gateway/aws/${name}-configuration.yaml`),
    );
    const shipped = [...files.join().matchAll(/key: ([\w.]+), value: "(\d+)"/g)].map(([, ...each]) => each);
    expect(shipped.length).toBeGreaterThan(1);
    const text = textOf('docs/load-balancers.md').replaceAll(/\s+/g, ' ');
    for (const [key, value] of shipped)
      expect([key, text.split(`\`${key}\` `)[1]?.slice(0, 3)]).toEqual([
        key,
        expect.stringMatching(RegExp(`^${value}\\b`)),
      ]);
  });

  it('docs/data-protection.md lists every place of docs/store-layout.md', () => {
    const [layout = ''] = textOf('docs/store-layout.md').split('## Kinds');
    const keys = [...layout.matchAll(/^(?:\| |- | {2})?[^\n]*$/gm)].flatMap(([line]) =>
      /^(\| `|- `\.|- The file store)/.test(line)
        ? [...line.matchAll(/`(\.?[a-z][\w-]*\/|\.transcript-receiver)/g)]
        : [],
    );
    const places = new Set(keys.map(([, place = '']) => place));
    expect(places.size).toBeGreaterThan(15);
    const listed = textOf('docs/data-protection.md');
    expect([...places].filter((place) => !listed.includes(`\`${place}\``))).toEqual([]);
  });

  it.each(['docs/security.md', 'docs/load-balancers.md', 'docs/operations.md'])(
    '%s names files that exist',
    (document) => {
      const named = [...textOf(document).matchAll(/`((?:test|deploy|k8s)\/[\w./-]+\.\w+)`/g)].map(
        ([, file]) => file,
      );
      expect(named.length).toBeGreaterThan(0);
      const missing = named.filter((file) => !existsSync(fileURLToPath(new URL(file ?? '', root))));
      expect(missing).toEqual([]);
    },
  );
});

import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { checkRetention } from '../../../../src/cli/doctor/check-retention.js';
import { parseConfig } from '../../../../src/config/config.js';
import { CONTENT_CLASSES } from '../../../../src/domain/kinds.js';
import { daysUntilEnd } from '../../../../src/store/s3/bucket/bucket-lifecycle.js';
import { readManifest, readProjectFile } from '../../../support/manifests.js';
import { readLifecycleRules } from '../../../support/store/lifecycle-rules.js';

type Given = Record<string, string>;

describe('the check of retention against lifecycle rules', () => {
  function check(
    file: string | null,
    retention: Given,
    more: { tags?: boolean; keyPrefixes?: string[] } = {},
  ) {
    const rules = file === null ? [] : readLifecycleRules(file);
    return checkRetention({
      periods: parseConfig({ retention }).retention,
      keyPrefixes: more.keyPrefixes ?? ['team-a/'],
      tags: more.tags ?? true,
      daysUntilEnd: (key, tags) => daysUntilEnd(rules as never, key, tags),
    });
  }
  const messages = (...args: Parameters<typeof check>) => check(...args).map(({ message }) => message);

  /** The periods that docs/stores.md gives beside the rules by tags. */
  const [, documented = ''] =
    /For `lifecycle-by-tags\.json`:\n\n```yaml\n([^`]*)```/.exec(readProjectFile('docs/stores.md')) ?? [];
  const BY_TAGS: Given = parse(documented).retention;

  it('agrees with the shipped rules by tags and the periods that belong to them', () => {
    expect(check('k8s/s3/lifecycle-by-tags.json', BY_TAGS)).toMatchObject([{ verdict: 'ok' }]);
  });

  it('agrees with the other shipped rules and the configuration beside them', () => {
    const { retention } = readManifest('k8s/overlays/production/config/production.yaml');
    expect(check('k8s/s3/lifecycle.json', retention, { tags: false })).toMatchObject([{ verdict: 'ok' }]);
  });

  it('names a period that no rule carries out', () => {
    expect(messages(null, { data: '30d' })).toEqual([
      'retention.data is 30 days, but no lifecycle rule expires such objects: they stay, and a lost one counts as expired.',
    ]);
    expect(messages('k8s/s3/lifecycle-by-tags.json', BY_TAGS, { tags: false }).join()).toMatch(
      /retention\.data is 30 days, but no lifecycle rule/,
    );
  });

  it('names a rule that no period knows, and one with other days', () => {
    expect(messages('k8s/s3/lifecycle.json', {})).toEqual([
      'A lifecycle rule expires quarantine after 90 days, but retention.quarantine is not set: verify reports it as missing.',
    ]);
    expect(messages('k8s/s3/lifecycle.json', { quarantine: '60d' })).toEqual([
      'retention.quarantine is 60 days, but a lifecycle rule expires such objects after 90 days.',
    ]);
  });

  it('sees that rules by folder miss the sources with a key prefix', () => {
    const rules = [{ Status: 'Enabled', Filter: { Prefix: 'jobs/' }, Expiration: { Days: 30 } }] as const;
    const kinds = CONTENT_CLASSES.filter((kind) => kind !== 'quarantine');
    const all = Object.fromEntries(kinds.map((kind) => [kind, '30d']));
    const periods = parseConfig({ retention: all }).retention;
    const of = (keyPrefixes: string[]) =>
      checkRetention({
        periods,
        keyPrefixes,
        tags: false,
        daysUntilEnd: (key, tags) => daysUntilEnd(rules, key, tags),
      });
    expect(of(['']).map(({ verdict }) => verdict)).toEqual(['ok']);
    expect(of(['team-a/']).map(({ verdict }) => verdict)).toEqual(kinds.map(() => 'warning'));
  });

  it('fails for a rule that expires what has to stay, such as the marks of erased jobs', () => {
    const of = (prefix: string) =>
      checkRetention({
        periods: parseConfig({}).retention,
        keyPrefixes: [],
        tags: false,
        daysUntilEnd: (key, tags) =>
          daysUntilEnd(
            [{ Status: 'Enabled', Filter: { Prefix: prefix }, Expiration: { Days: 30 } }],
            key,
            tags,
          ),
      }).filter(({ verdict }) => verdict === 'failed');
    expect(of('')).toMatchObject([
      { message: expect.stringMatching(/below \.store\/, \.erasures\/, \.erasure-log\/, outbox\/: /) },
    ]);
    expect(of('.erasures/')).toMatchObject([{ message: expect.stringMatching(/below \.erasures\/: /) }]);
    expect(of('.canary/')).toEqual([]);
  });

  it('says nothing about rules that it cannot read', () => {
    const periods = parseConfig({ retention: { data: '30d' } }).retention;
    const found = checkRetention({ periods, keyPrefixes: [], tags: true, daysUntilEnd: null });
    expect(found).toMatchObject([{ verdict: 'skipped' }]);
  });
});

describe('the days until a lifecycle rule ends an object', () => {
  const END = { Status: 'Enabled', Expiration: { Days: 9 } } as const;

  it.each([
    ['of the whole bucket', { ...END, Filter: { Prefix: '' } }, 9],
    ['without a filter', END, 9],
    ['by prefix, in the old form', { ...END, Prefix: 'a/' }, 9],
    ['by another prefix', { ...END, Filter: { Prefix: 'b/' } }, null],
    ['by tag', { ...END, Filter: { Tag: { Key: 'kind', Value: 'data' } } }, 9],
    ['by another tag', { ...END, Filter: { Tag: { Key: 'kind', Value: 'jobinfo' } } }, null],
    [
      'by prefix and tag',
      { ...END, Filter: { And: { Prefix: 'a/', Tags: [{ Key: 'kind', Value: 'data' }] } } },
      9,
    ],
    [
      'by two tags',
      {
        ...END,
        Filter: {
          And: {
            Tags: [
              { Key: 'kind', Value: 'data' },
              { Key: 'source', Value: 'x' },
            ],
          },
        },
      },
      null,
    ],
    ['of some sizes', { ...END, Filter: { ObjectSizeGreaterThan: 1000 } }, null],
    [
      'of some sizes below a prefix',
      { ...END, Filter: { And: { Prefix: 'a/', ObjectSizeLessThan: 10 } } },
      null,
    ],
    ['that is disabled', { ...END, Status: 'Disabled', Filter: { Prefix: '' } }, null],
    [
      'that ends versions only',
      { Status: 'Enabled', NoncurrentVersionExpiration: { NoncurrentDays: 1 } },
      null,
    ],
  ] as const)('by a rule %s', (_, rule, days) => {
    expect(daysUntilEnd([rule as never], 'a/jobs/j/data', { kind: 'data' })).toBe(days);
  });

  it('are the fewest of all rules', () => {
    const later = { ...END, Expiration: { Days: 20 } };
    expect(daysUntilEnd([later, END], 'x', {})).toBe(9);
  });
});

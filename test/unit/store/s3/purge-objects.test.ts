import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Misbehaviour, RecordedRequest } from '../../../support/store/s3-stand-in.js';
import { openStandInStore, PREFIX, type StandInStore } from '../../../support/store/stand-in-store.js';

const TEXT = { contentType: 'text/plain', metadata: {} };
const FOLDER = 'jobs/j1/';

describe('purging a folder of a bucket', () => {
  let place: StandInStore;
  beforeEach(async () => {
    place = await openStandInStore();
  });
  afterEach(() => place.close());

  const put = (key: string, text = key) => place.store.replace(key, Buffer.from(text), TEXT);
  const purge = (what = FOLDER) => Array.fromAsync(place.store.purge(what));
  const operations = () => place.standIn.requests.map(({ operation }) => operation);
  const versionOf = (key: string) =>
    place.standIn.state.versions.find((each) => each.key === PREFIX + key && each.object !== null)
      ?.versionId ?? '';
  const refuse = (matches: (request: RecordedRequest) => boolean, status = 403): void => {
    const refusal: Misbehaviour = {
      kind: 'answer',
      status,
      code: status === 403 ? 'AccessDenied' : 'NotImplemented',
    };
    place.standIn.misbehave = (request) => (matches(request) ? refusal : null);
  };

  it('costs as many requests as listing and deleting when the bucket has no versions', async () => {
    await put('jobs/j1/a');
    const before = operations().length;
    expect(await purge()).toEqual([{ key: 'jobs/j1/a', size: 9, what: 'object', kept: null }]);
    expect(operations().slice(before)).toEqual(['ListVersions', 'DeleteObject']);
    expect(place.standIn.requests.at(-1)?.query.has('versionId')).toBe(false);
  });

  it('removes all versions and delete markers over several pages, and leaves other folders alone', async () => {
    place.standIn.state.versioning = 'Enabled';
    for (const key of ['a', 'b', 'c', 'd/e', 'f']) await put(`${FOLDER}${key}`);
    await put('jobs/j1/a', 'again');
    await place.store.delete('jobs/j1/b');
    await put('jobs/j10/a');
    const purged = await purge();
    expect(purged.filter(({ kept }) => kept !== null)).toEqual([]);
    expect(purged.map(({ key, what }) => `${what} ${key}`).sort()).toEqual([
      'object jobs/j1/a',
      'object jobs/j1/c',
      'object jobs/j1/d/e',
      'object jobs/j1/f',
      'version jobs/j1/a',
      'version jobs/j1/b',
    ]);
    expect(place.standIn.state.versions.map(({ key }) => key)).toEqual([`${PREFIX}jobs/j10/a`]);
  });

  it('finds keys of which only old versions are left', async () => {
    place.standIn.state.versioning = 'Enabled';
    await put('jobs/j1/a');
    await place.store.delete('jobs/j1/a');
    const keys = new Set<string>();
    for await (const key of place.store.traces(FOLDER)) keys.add(key);
    expect([...keys]).toEqual(['jobs/j1/a']);
  });

  it('removes objects that are older than the versioning', async () => {
    await put('jobs/j1/a');
    place.standIn.state.versioning = 'Enabled';
    await purge();
    await purge();
    expect([...place.standIn.state.objects.keys(), ...place.standIn.state.versions]).toEqual([]);
  });

  it.each([
    [
      'retention',
      {
        'x-amz-object-lock-mode': 'COMPLIANCE',
        'x-amz-object-lock-retain-until-date': '2027-01-02T03:04:05Z',
      },
    ],
    [
      'legal-hold',
      { 'x-amz-object-lock-legal-hold': 'ON', 'x-amz-object-lock-retain-until-date': '2027-01-02T03:04:05Z' },
    ],
    ['denied', {}],
  ])('hides what cannot be removed and reports why: %s', async (reason, headers) => {
    place.standIn.state.versioning = 'Enabled';
    await put('jobs/j1/a');
    await put('jobs/j1/b');
    place.standIn.state.locked.set(versionOf('jobs/j1/a'), headers);
    const until = reason === 'retention' ? new Date('2027-01-02T03:04:05Z') : null;
    const kept = { key: 'jobs/j1/a', size: 9, what: 'object', kept: { reason, until } };
    expect((await purge()).filter((each) => each.kept !== null)).toEqual([kept]);
    expect(await place.store.head('jobs/j1/a')).toBeNull();
    // A further pass must not remove the delete marker: the version would be the object again.
    expect(await purge()).toEqual([{ ...kept, what: 'version' }]);
    expect(await place.store.head('jobs/j1/a')).toBeNull();
    place.standIn.state.locked.clear();
    expect(await purge()).toEqual([{ ...kept, what: 'version', kept: null }]);
    expect(place.standIn.state.versions).toEqual([]);
  });

  it.each([
    ['versions are off', null, []],
    ['versions are on', 'Enabled', ['unlisted']],
    ['versions are suspended', 'Suspended', ['unlisted']],
  ] as const)(
    'without the right to list versions deletes objects, and reports the rest: %s',
    async (_, versioning, reasons) => {
      place.standIn.state.versioning = versioning;
      await put('jobs/j1/a');
      refuse(({ operation }) => operation === 'ListVersions');
      expect((await purge()).flatMap(({ kept }) => kept?.reason ?? [])).toEqual(reasons);
      expect(await place.store.head('jobs/j1/a')).toBeNull();
    },
  );

  it('counts versions as unlisted when nothing about them may be read', async () => {
    refuse(({ operation }) => operation === 'ListVersions' || operation === 'GetVersioning');
    expect((await purge()).map(({ kept }) => kept?.reason)).toEqual(['unlisted']);
  });

  it.each(['with', 'without'])(
    'removes one object, not those whose names begin with its own, %s versions',
    async (versions) => {
      for (const key of ['jobs/j1/a', 'jobs/j1/a.json', 'jobs/j1/a/b']) await put(key);
      if (versions === 'without') refuse(({ operation }) => operation === 'ListVersions', 501);
      expect((await purge('jobs/j1/a')).map(({ key }) => key)).toEqual(['jobs/j1/a']);
      expect([...place.standIn.state.objects.keys()]).toEqual([
        `${PREFIX}jobs/j1/a.json`,
        `${PREFIX}jobs/j1/a/b`,
      ]);
    },
  );

  it('takes a server without versions for what it is', async () => {
    await put('jobs/j1/a');
    refuse(({ operation }) => operation === 'ListVersions', 501);
    expect(await purge()).toEqual([{ key: 'jobs/j1/a', size: 9, what: 'object', kept: null }]);
  });
});

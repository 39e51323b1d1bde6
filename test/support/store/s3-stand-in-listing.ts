import type { S3State } from './s3-stand-in-state.js';

export function xml(root: string, content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`;
}

/** ListObjectsV2: prefix, delimiter, start-after, continuation, pages of keys and folders together. */
export function listObjectsXml(state: S3State, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const token = query.get('continuation-token');
  const after = token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'hex').toString();
  const entries = entriesOf(state, prefix, query.get('delimiter')).filter((entry) => isAfter(entry, after));
  const most = Math.min(state.page, Number(query.get('max-keys') ?? state.page));
  const page = entries.slice(0, most);
  const last = page.at(-1);
  const more = entries.length > most && last !== undefined;
  const next = more
    ? `<NextContinuationToken>${Buffer.from(last).toString('hex')}</NextContinuationToken>`
    : '';
  return xml(
    'ListBucketResult',
    `<EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${next}` +
      page.map((entry) => entryXml(state, entry)).join(''),
  );
}

/** ListObjectVersions: newest first per key, in pages of 2 keys so that every reader has to page. */
export function listVersionsXml(state: S3State, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('key-marker') ?? '';
  const known = new Set(state.versions.map(({ key }) => key));
  const plain = [...state.objects]
    .filter(([key]) => !known.has(key))
    .map(([key, object]) => ({ key, versionId: 'null', object }));
  const found = [...plain, ...state.versions].filter(
    ({ key }) => key.startsWith(prefix) && isAfter(key, after),
  );
  const keys = [...new Set(found.map(({ key }) => key))].sort();
  const page = keys.slice(0, 2);
  const entries = page.flatMap((each) => {
    const versions = found.filter(({ key }) => key === each).reverse();
    return versions.map(({ key, versionId, object }, n) => {
      const name = object === null ? 'DeleteMarker' : 'Version';
      const size = object === null ? '' : `<Size>${object.size}</Size>`;
      const place = `<Key>${encodeURIComponent(key)}</Key><VersionId>${versionId}</VersionId>`;
      return `<${name}>${place}<IsLatest>${n === 0}</IsLatest>${size}</${name}>`;
    });
  });
  const more = keys.length > page.length;
  const next = more ? `<NextKeyMarker>${encodeURIComponent(page.at(-1) ?? '')}</NextKeyMarker>` : '';
  return xml(
    'ListVersionsResult',
    `<EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${next}${entries.join('')}`,
  );
}

/** ListMultipartUploads: by key, then by id; a page continues after a key and an id. */
export function listUploadsXml(state: S3State, query: URLSearchParams): string {
  const place = (key: string, id: string) => `${key}\n${id}`;
  const after = place(query.get('key-marker') ?? '', query.get('upload-id-marker') ?? '\uffff');
  const uploads = [...state.uploads]
    .map(([id, { key, begun }]) => ({ id, key, begun, place: place(key, id) }))
    .filter((each) => each.key.startsWith(query.get('prefix') ?? '') && each.place > after)
    .sort((one, other) => (one.place < other.place ? -1 : 1));
  const page = uploads.slice(0, state.page);
  const last = page.at(-1);
  const next =
    last === undefined || page.length === uploads.length
      ? ''
      : `<IsTruncated>true</IsTruncated><NextKeyMarker>${last.key}</NextKeyMarker><NextUploadIdMarker>${last.id}</NextUploadIdMarker>`;
  const entries = page.map(
    ({ id, key, begun }) =>
      // As Ceph, which does not say that keys are encoded.
      `<Upload><Key>${query.has('encoding-type') ? encodeURIComponent(key) : key}</Key><UploadId>${id}</UploadId>` +
      `<Initiated>${begun.toISOString()}</Initiated></Upload>`,
  );
  return xml('ListMultipartUploadsResult', next + entries.join(''));
}

function entriesOf(state: S3State, prefix: string, delimiter: string | null): string[] {
  const entries = new Set<string>();
  for (const key of state.objects.keys()) {
    if (!key.startsWith(prefix)) continue;
    const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
    entries.add(end === -1 ? key : key.slice(0, end + 1));
  }
  return [...entries].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function isAfter(entry: string, after: string): boolean {
  return after === '' || Buffer.compare(Buffer.from(entry), Buffer.from(after)) > 0;
}

function entryXml(state: S3State, entry: string): string {
  const name = encodeURIComponent(entry).replaceAll('%20', '+');
  const object = state.objects.get(entry);
  if (object === undefined) return `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`;
  const { size, modifiedAt } = object;
  return (
    `<Contents><Key>${name}</Key><Size>${size}</Size>` +
    `<LastModified>${modifiedAt.toISOString()}</LastModified></Contents>`
  );
}

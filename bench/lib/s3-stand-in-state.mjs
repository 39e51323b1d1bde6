import { createHash } from 'node:crypto';

const error = (status, code) => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
});
const xml = (root, content) => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`,
});

/** What the stand-in knows: sizes and headers of all objects, bytes only of those that `keeps` names. */
export function createStandInState() {
  let objects = new Map();
  let uploads = new Map();
  let counts = fresh();
  let keepArtefacts = false;
  let serial = 0;

  const isControl = (key) => key.includes('.probe/') || key.includes('.canary/') || key.includes('ledger/');
  const conditional = (headers, key) => headers['if-none-match'] === '*' && objects.has(key);

  function putPart(upload, number, size, body) {
    if (upload === undefined) return error(404, 'NoSuchUpload');
    const etag = nextEtag();
    upload.parts.set(number, { etag, size, body });
    return { status: 200, headers: { ETag: etag } };
  }

  /** What was thrown away has no hash; a number that is never given twice serves. */
  function nextEtag() {
    serial += 1;
    return `"${serial.toString(16).padStart(32, '0')}"`;
  }

  function store(key, object) {
    objects.set(key, { ...object, at: new Date() });
  }

  const api = {
    latencyMs: 0,
    keeps: (key) => keepArtefacts || isControl(key) || key.endsWith('.info'),

    put({ key, query, headers, size, chunks, keep }) {
      const kind =
        key.includes('.canary/') || key.includes('.probe/')
          ? 'control'
          : key.includes('ledger/')
            ? 'ledger'
            : 'artefact';
      counts.puts[kind] += 1;
      counts.bytes[kind] += size;
      const uploadId = query?.get('uploadId') ?? null;
      if (uploadId !== null)
        return putPart(
          uploads.get(uploadId),
          Number(query.get('partNumber')),
          size,
          keep ? Buffer.concat(chunks) : null,
        );
      if (conditional(headers, key)) return error(412, 'PreconditionFailed');
      const body = keep ? Buffer.concat(chunks) : null;
      const etag = body === null ? nextEtag() : `"${createHash('md5').update(body).digest('hex')}"`;
      store(key, { size, body, etag, headers: kept(headers) });
      return { status: 200, headers: { ETag: etag } };
    },

    answer({ method, url, headers }, body) {
      const { pathname, searchParams: query } = new URL(url, 'http://stand-in');
      const slash = pathname.indexOf('/', 1);
      const key = slash === -1 ? '' : decodeURIComponent(pathname.slice(slash + 1));
      counts.others += 1;
      if (key === '' && method === 'GET')
        return query.has('uploads') ? listUploads(uploads) : list(objects, query);
      if (key === '') return { status: 200 };
      if (method === 'POST' && query.has('uploads')) return begin(key, headers);
      if (method === 'POST') return complete(key, query.get('uploadId'), headers, body.toString());
      const id = query.get('uploadId');
      if (method === 'DELETE' && id !== null)
        return uploads.delete(id) ? { status: 204 } : error(404, 'NoSuchUpload');
      if (method === 'GET' && id !== null) return listParts(uploads.get(id));
      if (method === 'DELETE') {
        objects.delete(key);
        return { status: 204 };
      }
      return read(objects.get(key), method, headers.range);
    },

    /** Objects only: uploads under way go on. */
    forget() {
      objects = new Map();
    },

    reset({ latency = '0', keep = '' }) {
      objects = new Map();
      uploads = new Map();
      counts = fresh();
      api.latencyMs = Number(latency);
      keepArtefacts = keep === 'all';
    },

    counts: () => ({ ...counts, objects: objects.size, uploads: uploads.size }),
  };

  function begin(key, headers) {
    serial += 1;
    const id = `upload-${serial}`;
    uploads.set(id, { key, headers: kept(headers), parts: new Map() });
    return xml(
      'InitiateMultipartUploadResult',
      `<Bucket>b</Bucket><Key>${key}</Key><UploadId>${id}</UploadId>`,
    );
  }

  function complete(key, id, headers, text) {
    const upload = uploads.get(id);
    if (upload === undefined) return error(404, 'NoSuchUpload');
    if (conditional(headers, key)) return error(412, 'PreconditionFailed');
    const numbers = [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map((match) => Number(match[1]));
    const parts = numbers.map((number) => upload.parts.get(number));
    if (numbers.length === 0 || parts.includes(undefined)) return error(400, 'InvalidPart');
    const size = parts.reduce((sum, part) => sum + part.size, 0);
    const body = parts.some((part) => part.body === null)
      ? null
      : Buffer.concat(parts.map((part) => part.body));
    store(key, { size, body, etag: `"${id}-${parts.length}"`, headers: upload.headers });
    uploads.delete(id);
    counts.completed += size;
    return xml(
      'CompleteMultipartUploadResult',
      `<Bucket>b</Bucket><Key>${key}</Key><ETag>"${id}-${parts.length}"</ETag>`,
    );
  }

  return api;
}

function fresh() {
  return {
    puts: { control: 0, ledger: 0, artefact: 0 },
    bytes: { control: 0, ledger: 0, artefact: 0 },
    others: 0,
    completed: 0,
  };
}

function kept(headers) {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === 'content-type' || name.startsWith('x-amz-meta-')),
  );
}

function read(object, method, range) {
  if (object === undefined) return error(404, 'NoSuchKey');
  const headers = { ...object.headers, etag: object.etag, 'last-modified': object.at.toUTCString() };
  if (method === 'HEAD') return { status: 200, headers: { ...headers, 'content-length': object.size } };
  // Thrown-away bytes come back as zeros: who reads them to compare is told that they differ.
  const body = object.body ?? Buffer.alloc(object.size);
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === undefined) return { status: 200, headers, body };
  const slice = body.subarray(Number(from), to === '' ? undefined : Number(to) + 1);
  const end = Number(from) + slice.length - 1;
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${from}-${end}/${body.length}` },
    body: slice,
  };
}

function list(objects, query) {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter');
  const token = query.get('continuation-token');
  const after = token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'hex').toString();
  const names = new Set();
  for (const key of objects.keys()) {
    if (!key.startsWith(prefix)) continue;
    const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
    const name = end === -1 ? key : key.slice(0, end + 1);
    if (name > after) names.add(name);
  }
  const sorted = [...names].sort();
  const page = sorted.slice(0, 1000);
  const next =
    sorted.length > 1000
      ? `<NextContinuationToken>${Buffer.from(page.at(-1)).toString('hex')}</NextContinuationToken>`
      : '';
  const entries = page.map((name) => {
    const object = objects.get(name);
    const encoded = encodeURIComponent(name);
    if (object === undefined) return `<CommonPrefixes><Prefix>${encoded}</Prefix></CommonPrefixes>`;
    return `<Contents><Key>${encoded}</Key><Size>${object.size}</Size><LastModified>${object.at.toISOString()}</LastModified></Contents>`;
  });
  return xml(
    'ListBucketResult',
    `<EncodingType>url</EncodingType><IsTruncated>${sorted.length > 1000}</IsTruncated>${next}${entries.join('')}`,
  );
}

function listUploads(uploads) {
  const entries = [...uploads].map(
    ([id, { key }]) =>
      `<Upload><Key>${encodeURIComponent(key)}</Key><UploadId>${id}</UploadId><Initiated>${new Date().toISOString()}</Initiated></Upload>`,
  );
  return xml('ListMultipartUploadsResult', `<EncodingType>url</EncodingType>${entries.join('')}`);
}

function listParts(upload) {
  if (upload === undefined) return error(404, 'NoSuchUpload');
  const parts = [...upload.parts].map(
    ([number, { etag, size }]) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag><Size>${size}</Size></Part>`,
  );
  return xml('ListPartsResult', parts.join(''));
}

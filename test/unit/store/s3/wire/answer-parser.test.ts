import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AnswerParser, type WholeAnswer } from '../../../../../src/store/s3/wire/answer-parser.js';
import { createRandom } from '../../../../support/random.js';

const HEAD = 'HTTP/1.1 200 OK\r\nETag: "1"\r\nx-amz-request-id: tx1\r\n';
const EMPTY = `${HEAD}Content-Length: 0\r\n\r\n`;
const ERROR =
  'HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nContent-Length: 36\r\n\r\n<Error><Code>SlowDown</Code></Error>';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n7\r\n<Error>\r\n1;a=b\r\nx\r\n8\r\n</Error>\r\n0\r\n\r\n`;
const TRAILERS = `${HEAD}Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n000\r\nx-sum: 1\r\n\r\n`;

interface Parsed {
  readonly answer: WholeAnswer | null;
  readonly reusable: boolean;
}

/** Feeds the pieces as a connection does: each lies at the start of one buffer, before what earlier ones left there. */
function parse(pieces: readonly (string | Buffer)[], { toHead = false, thenEnd = false } = {}): Parsed {
  const parser = new AnswerParser();
  const arrived = Buffer.alloc(128 * 1024, '\r\n\r\n');
  parser.begin(toHead);
  let answer: WholeAnswer | null = null;
  for (const piece of pieces) {
    const bytes = Buffer.from(piece as string, 'latin1');
    bytes.copy(arrived);
    answer = parser.take(arrived, bytes.length);
    if (answer !== null) break;
  }
  if (answer === null && thenEnd) answer = parser.end();
  return { answer, reusable: parser.reusable };
}

const byByte = (text: string) => [...Buffer.from(text, 'latin1')].map((byte) => Buffer.of(byte));

describe('the parser of answers', () => {
  it.each<[string, string, number, string]>([
    ['without a body', EMPTY, 200, ''],
    ['with a body of known length', ERROR, 503, '<Error><Code>SlowDown</Code></Error>'],
    ['in chunks', CHUNKED, 200, '<Error>x</Error>'],
    ['in chunks, with trailers', TRAILERS, 200, 'abc'],
    [
      'after informational ones',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nlink: a\r\n\r\n${EMPTY}`,
      200,
      '',
    ],
    ['that has no body by its status', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
  ])('reads an answer %s, in one piece, in two and byte by byte', (_, text, status, body) => {
    const whole = parse([text]);
    expect(whole).toMatchObject({ answer: { status, text: body }, reusable: true });
    expect(parse(byByte(text))).toEqual(whole);
    for (let at = 1; at < text.length; at += 1) {
      expect(parse([text.slice(0, at)]).answer).toBeNull();
      expect(parse([text.slice(0, at), text.slice(at)])).toEqual(whole);
    }
  });

  it('returns headers by their names in lower case, several of a name as a list', () => {
    const { answer } = parse([
      'HTTP/1.1 204 x\r\nETag:"1"\r\nVia:  a \r\nVIA: b\r\nconstructor: c\r\nempty:\r\n\r\n',
    ]);
    expect(Object.entries(answer?.headers ?? {})).toEqual([
      ['etag', '"1"'],
      ['via', 'a, b'],
      ['constructor', 'c'],
      ['empty', ''],
    ]);
  });

  it('reads headers and bodies as UTF-8', () => {
    const bytes = Buffer.from('HTTP/1.1 400 x\r\nx-amz-meta-a: é\r\ncontent-length: 3\r\n\r\n€');
    expect(parse([bytes]).answer).toMatchObject({ headers: { 'x-amz-meta-a': 'é' }, text: '€' });
  });

  it('takes no body after a HEAD, whatever its head says', () => {
    const head = `${HEAD}Content-Length: 1000\r\n\r\n`;
    expect(parse([head], { toHead: true })).toMatchObject({ answer: { text: '' }, reusable: true });
    expect(parse([`${head}body`], { toHead: true })).toMatchObject({ answer: { text: '' }, reusable: false });
  });

  it('takes a body without a length to the end of the connection, which is not used again', () => {
    const pieces = ['HTTP/1.1 502 x\r\n\r\nBad', ' Gateway'];
    expect(parse(pieces).answer).toBeNull();
    expect(parse(pieces, { thenEnd: true })).toMatchObject({
      answer: { status: 502, text: 'Bad Gateway' },
      reusable: false,
    });
  });

  it.each(['HTTP/1.1 200 OK\r\nContent-Le', ERROR.slice(0, -1), CHUNKED.slice(0, -2)])(
    'has no answer when the connection ends too early (%#)',
    (text) => expect(parse([text], { thenEnd: true }).answer).toBeNull(),
  );

  it.each([
    ['asks for it', `${HEAD}Connection: Keep-Alive, Close\r\nContent-Length: 0\r\n\r\n`],
    ['speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['sends bytes behind its answer', `${EMPTY}HTTP/1.1 200 OK\r\n`],
    ['sends bytes behind its chunks', `${CHUNKED}0`],
  ])('ends the connection of a server that %s', (_, text) => {
    expect(parse([text])).toMatchObject({ answer: { status: 200 }, reusable: false });
  });

  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a length that is no number', `${HEAD}Content-Length: 1x\r\n\r\n`],
    ['a negative length', `${HEAD}Content-Length: -1\r\n\r\n`],
    ['two lengths', `${HEAD}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`],
    ['length and chunks', `${HEAD}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['another transfer coding', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ['a chunk without a length', `${HEAD}Transfer-Encoding: chunked\r\n\r\nhello\r\n`],
    ['a chunk longer than it says', `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n`],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\netag\r\n\r\n'],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: 1\r\n\r\n'],
    ['a blank before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\netag: 1\r\n 2\r\n\r\n'],
    ['a bare line feed', 'HTTP/1.1 200 OK\r\netag: 1\nContent-Length: 9\r\n\r\n'],
    ['a bare carriage return', 'HTTP/1.1 200 OK\r\netag: 1\rx: 2\r\n\r\n'],
    ['a control character', 'HTTP/1.1 200 OK\r\netag: \0\r\n\r\n'],
    ['a head without an end', `HTTP/1.1 200 OK\r\netag: ${'x'.repeat(20_000)}`],
    ['a body that is too long', `${HEAD}Content-Length: 65537\r\n\r\n`],
    ['chunks that are too long', `${HEAD}Transfer-Encoding: chunked\r\n\r\nfffff\r\n`],
    ['a body without an end', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(66_000)}`],
    ['a chunk line without an end', `${HEAD}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(2_000)}`],
    ['trailers without an end', `${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\nx: ${'x'.repeat(20_000)}`],
  ])('does not accept %s, in one piece or in many', (_, text) => {
    const refused = expect.objectContaining({ code: 'NotAnswerOfS3', status: null });
    for (const pieces of [[text], byByte(text)]) expect(() => parse(pieces)).toThrow(refused as never);
  });

  it.each([
    ['informational answers', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['extensions of chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, `1;${'a'.repeat(1000)}\r\nx\r\n`],
  ])('does not keep %s without an end', (_, start, piece) => {
    const text = start + piece.repeat(200_000 / piece.length);
    const pieces = text.match(/[\s\S]{1,1000}/g) ?? [];
    expect(() => parse(pieces)).toThrow(
      expect.objectContaining({ detail: expect.stringContaining('too long') }),
    );
  });

  describe('beside that of Node', () => {
    let sent = '';
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(sent, 'latin1'));
    });
    beforeAll(async () => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    afterAll(() => {
      server.close();
    });

    it('returns the same of a damaged answer, or nothing', async () => {
      const random = createRandom(7, 'damaged answers');
      const { port } = server.address() as AddressInfo;
      const read = { both: 0, neither: 0, nodeOnly: 0 };
      for (let n = 0; n < 300; n += 1) {
        sent = damaged(random.pick([EMPTY, ERROR, CHUNKED]), random);
        const byNode = await answerOfNode(port);
        const ours = attempt(() => parse([sent], { thenEnd: true }));
        // With bytes behind an answer Node fails; here it counts, and its connection ends.
        if (byNode === null)
          expect({ sent, clean: ours?.answer && ours.reusable }).not.toMatchObject({ clean: true });
        else if (ours?.answer) expect({ sent, ...ours.answer }).toMatchObject({ sent, ...byNode });
        read[byNode === null ? 'neither' : ours?.answer ? 'both' : 'nodeOnly'] += 1;
      }
      expect(read.both).toBeGreaterThan(30);
      expect(read.neither).toBeGreaterThan(30);
    });
  });
});

function damaged(text: string, { whole, pick }: ReturnType<typeof createRandom>): string {
  const at = whole(0, text.length);
  const piece = pick(['', '\r', '\n', '\r\n', ' ', ':', '0', 'a', '\0', '\r\n\r\n']);
  return text.slice(0, at) + piece + text.slice(at + whole(0, 2));
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

function answerOfNode(port: number): Promise<{ status: number; text: string } | null> {
  return new Promise((resolve) => {
    const request = httpRequest({ host: '127.0.0.1', port, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => resolve(null));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    request.on('error', () => resolve(null));
    request.end();
  });
}

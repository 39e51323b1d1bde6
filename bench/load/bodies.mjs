/** Bodies by description, made once: what is sent costs the sender no more than writing it. */
const BOUNDARY = '----------------bench7MA4YWxkTrZu0gW';

export function bodyOf({ kind, bytes }) {
  if (kind === 'transcript') return whole('application/json', transcript(bytes));
  if (kind === 'form') return whole(`multipart/form-data; boundary=${BOUNDARY}`, threeParts(bytes));
  if (kind === 'form-one')
    return whole(`multipart/form-data; boundary=${BOUNDARY}`, onePart(transcript(bytes)));
  if (kind === 'form-media') {
    const [before, after] = mediaFrame();
    return streamed(`multipart/form-data; boundary=${BOUNDARY}`, before, bytes, after);
  }
  if (kind === 'media') return streamed('application/octet-stream', Buffer.alloc(0), bytes, Buffer.alloc(0));
  if (kind === 'tus')
    return streamed('application/offset+octet-stream', Buffer.alloc(0), bytes, Buffer.alloc(0));
  throw new Error(`no such body: ${kind}`);
}

function whole(type, bytes) {
  return { type, bytes, length: bytes.length };
}

function streamed(type, before, size, after) {
  const chunk = Buffer.alloc(256 * 1024, 'media that does not repeat within a line of text; ');
  return { type, bytes: null, before, chunk, size, after, length: before.length + size + after.length };
}

/** A transcript of exactly this many bytes. */
export function transcript(bytes) {
  const words = [];
  const make = () =>
    JSON.stringify({
      format: '2.9',
      job: { id: 'bench' },
      metadata: { type: 'transcription' },
      results: words,
    });
  while (make().length < bytes - 120) {
    const time = words.length / 4;
    words.push({
      type: 'word',
      start_time: time,
      end_time: time + 0.2,
      alternatives: [{ content: 'word', confidence: 0.97 }],
    });
  }
  const text = make();
  return Buffer.from(`${text.slice(0, -1)}${' '.repeat(Math.max(0, bytes - text.length))}}`);
}

function part(name, fileName, type, content) {
  const file = fileName === null ? '' : `; filename="${fileName}"`;
  return Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\nContent-Type: ${type}\r\n\r\n`,
    ),
    content,
    Buffer.from('\r\n'),
  ]);
}

const END = Buffer.from(`--${BOUNDARY}--\r\n`);

/** Transcript, text and job information, as a job with three contents sends them. */
function threeParts(bytes) {
  const text = Buffer.alloc(Math.floor(bytes / 4), 'word after word ');
  const info = Buffer.from(JSON.stringify({ id: 'bench', status: 'done', duration: 120 }));
  return Buffer.concat([
    part('transcript.json-v2', 'bench.json', 'application/octet-stream', transcript(Math.floor(bytes / 2))),
    part('transcript.txt', 'bench.txt', 'application/octet-stream', text),
    part('jobinfo', 'bench.jobinfo.json', 'application/octet-stream', info),
    END,
  ]);
}

function onePart(content) {
  return Buffer.concat([part('transcript.json-v2', 'bench.json', 'application/octet-stream', content), END]);
}

function mediaFrame() {
  const whole = part('data', 'bench.wav', 'application/octet-stream', Buffer.alloc(0));
  return [whole.subarray(0, -2), Buffer.concat([Buffer.from('\r\n'), END])];
}

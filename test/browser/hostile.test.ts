import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { encodeTime } from 'ulid';
import { ledgerPartition } from '../../src/ledger/hours.js';
import { type Dashboard, openBrowser, openDashboard } from '../support/dashboard/dashboard.js';
import { ledgerLine } from '../support/ledger/ledger-lines.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../support/recovery/lost-jobs.js';
import { until } from '../support/until.js';

/** Attacks on users of the page. An input that runs sets `window.hit`. */
const CORPUS = [
  '<script>window.hit=1</script>',
  '<img src=x onerror=window.hit=1>',
  '"><svg onload=window.hit=1>',
  "'><iframe srcdoc='<script>top.hit=1</script>'></iframe>",
  'javascript:window.hit=1',
  '<a href="javascript:window.hit=1">click</a>',
  '<style>@import "http://198.51.100.7/x.css";*{display:none}</style>',
  '<link rel=stylesheet href=http://198.51.100.7/x.css>',
  '<meta http-equiv=refresh content="0;url=http://198.51.100.7/">',
  '<base href=http://198.51.100.7/>',
  '<form action=http://198.51.100.7/><button>OK</button></form>',
  '{{constructor.constructor("window.hit=1")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is the attack
  '${window.hit=1}',
  '\u202egnp.exe\u0000\u001b[31m',
];
const WORDS = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
const ALL = CORPUS.join(' ');

let browser: Browser;
let lost: LostJobs;
let service: RunningService;
let dashboard: Dashboard;
let known: string;
let quarantined: string;
let planted: string;

beforeAll(async () => {
  [browser, lost] = await Promise.all([openBrowser(), lostJobs()]);
  service = await startService({
    sources: { default: {}, guarded: { credentials: { main: { headers: ['X-T: a-secret-of-sixteen'] } } } },
    ...lost.settings,
  });
  planted = await writeHostileLedger(service.folder);
  known = await sendHostileCallbacks();
  dashboard = await openDashboard(browser, service);
});
afterAll(async () => {
  await dashboard?.close();
  await browser.close();
  // Every line that is left when the service stops has to be one of the schema.
  await rm(planted);
  await service.stop();
  await lost.simulator.close();
});

/** Ledger lines that an attacker with write access to the bucket could leave. Resolves to their file. */
async function writeHostileLedger(folder: string): Promise<string> {
  const now = new Date().toISOString();
  const lines = [...CORPUS, ...WORDS].map((text) =>
    ledgerLine({
      receivedAt: now,
      jobId: 'crafted',
      origin: text as never,
      source: text,
      region: text,
      clientIp: text,
      method: text,
      status: text,
      credential: text,
      outcome: text,
      reason: text,
      actor: text,
      items: [{ kind: text as never, key: text, size: 1, sha256: text, outcome: 'created' }],
      shape: {
        contentType: text,
        framing: 'sized',
        parts: [{ name: text, contentType: text, bytes: 1 }],
      },
      context: { [text]: text, object: { toString: 1 } as never },
      contextOmitted: { [text]: text as never, object: { toString: 1 } as never },
    }),
  );
  const failing = CORPUS.map((text, index) =>
    ledgerLine({
      receivedAt: now,
      jobId: `bad${index}`,
      outcome: 'failed',
      origin: 'recovery',
      reason: text,
    }),
  );
  const file = join(
    folder,
    ledgerPartition(now),
    `${encodeTime(Date.now())}0000000000000000-x~00000001.ndjson`,
  );
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, [...lines, ...failing].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

async function sendHostileCallbacks(): Promise<string> {
  const { id, notified } = lost.simulator.submit({
    dataName: ALL,
    config: { type: 'transcription', notification_config: [{ url: 'http://127.0.0.1:9/' }] },
  });
  await notified;
  const words = CORPUS.map((content, index) => ({
    type: 'word',
    start_time: index,
    end_time: index + 1,
    alternatives: [{ content, confidence: 0.1, speaker: content }],
  }));
  const transcript = {
    format: '2.9',
    metadata: { language_pack_info: { word_delimiter: ALL } },
    results: words,
  };
  const form = new FormData();
  form.append('transcript', new Blob([JSON.stringify(transcript)]), '<img src=x onerror=window.hit=1>.json');
  form.append('transcript.txt', new Blob([CORPUS.join('\n')]), 'a.txt');
  form.append(
    'transcript.srt',
    new Blob([
      CORPUS.map((text, index) => `${index + 1}\n00:00:0${index % 10},000 --> 00:00:09,000\n${text}\n`).join(
        '\n',
      ),
    ]),
    'a.srt',
  );
  // Control characters in part headers make a body undecodable; that is the receiver's business.
  for (const text of CORPUS.slice(0, -1)) form.append(text, new Blob([text]), text);
  form.append('data', new Blob(['<script>window.hit=1</script>'], { type: 'text/html' }), 'media.html');
  const taken = await sendCallback(service, `id=${id}&status=success&x=${encodeURIComponent(ALL)}`, form);
  expect(taken.json).toMatchObject({ outcome: 'stored' });
  for (const word of WORDS) await sendCallback(service, `id=${word}&status=${word}`);
  const broken = await sendCallback(
    service,
    `id=q1&status=success&x=${encodeURIComponent(ALL)}`,
    `{"${ALL}`,
    {
      'content-type': 'application/json',
      'user-agent': CORPUS.slice(0, -1).join(' '),
      'x-hostile': CORPUS.slice(0, -1).join(' '),
    },
  );
  quarantined = String(broken.json.deliveryId);
  await sendCallback(service, 'id=s1&status=success', '', { 'user-agent': CORPUS[1] ?? '' }, 'guarded');
  return id;
}

const CHECK = `({
  hit: window.hit,
  elements: [...document.querySelectorAll('script, iframe, object, embed, base, meta[http-equiv], main style, main link, main form[action], img')]
    .map((element) => element.outerHTML).filter((html) => !html.includes('src="main.js"')),
  addresses: [...document.querySelectorAll('[href], [src]')].filter((element) => !element.closest('head'))
    .map((element) => element.getAttribute('href') ?? element.getAttribute('src'))
    .filter((address) => !/^#|^admin\\/api\\/jobs\\//.test(address)),
  handlers: document.querySelectorAll('[onclick], [onerror], [onload], [style*=expression]').length,
})`;

describe('hostile input', () => {
  it.each<[string, () => string, string]>([
    ['the overview', () => '', '.u-over'],
    ['the list', () => 'deliveries', 'tbody tr'],
    ['a job with hostile artefacts', () => `jobs/${known}`, '.transcript .word'],
    ['a job with a crafted ledger', () => 'jobs/crafted', '.timeline li'],
    ['jobs called like members of objects', () => 'jobs/__proto__', '.timeline li'],
    ['failures', () => 'failures', '[data-key=causes] li'],
    ['a quarantined body', () => `quarantine/${quarantined}`, 'pre.raw'],
    ['refusals', () => 'refusals', 'tbody tr'],
    [
      'an address of the page',
      () => `deliveries?job=${encodeURIComponent(ALL)}&outcome=${encodeURIComponent(ALL)}`,
      '.panel',
    ],
    [
      'a job id in the address',
      () => `jobs/${encodeURIComponent('<img src=x onerror=window.hit=1>')}`,
      '.empty',
    ],
    ['explain', () => `explain?source=${encodeURIComponent(ALL)}&address=${encodeURIComponent(ALL)}`, 'form'],
    [
      'a replay form',
      () => `replays?jobs=${encodeURIComponent(ALL)}&kind=${encodeURIComponent(ALL)}`,
      'form textarea',
    ],
    ['a help topic', () => 'help/constructor', '.empty'],
    ['no page at all', () => '<img src=x onerror=window.hit=1>', '.empty'],
  ])('is only text on %s', async (_, path, ready) => {
    const { page } = dashboard;
    await dashboard.go(path());
    await page.locator(ready).first().waitFor();
    await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
    expect(await page.evaluate(CHECK)).toEqual({ hit: undefined, elements: [], addresses: [], handlers: 0 });
    expect(dashboard.trouble).toEqual([]);
  });

  it('shows every transcript format word for word', async () => {
    const { page } = dashboard;
    await dashboard.go(`jobs/${known}`);
    for (const format of ['json-v2', 'SRT', 'text']) {
      await page.getByRole('button', { name: format, exact: true }).click();
      await page.locator('.transcript').getByText('<img src=x onerror=window.hit=1>').first().waitFor();
    }
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(dashboard.trouble).toEqual([]);
  });

  it('never runs what is stored, even when it is opened as a page', async () => {
    const { page } = dashboard;
    await dashboard.go(`jobs/${known}`);
    const links = await page.getByRole('link', { name: /^Download/ }).all();
    expect(links.length).toBeGreaterThan(5);
    for (const link of links.slice(0, 6)) {
      const answer = await fetch(new URL((await link.getAttribute('href')) ?? '', service.adminUrl));
      await answer.arrayBuffer();
      expect(answer.headers.get('content-disposition')).toMatch(/^attachment/);
      expect(answer.headers.get('content-security-policy')).toContain('sandbox');
      expect(answer.headers.get('content-type')).not.toMatch(/html|svg|xml/);
    }
  });

  it('is refused by the browser should the page ever slip', async () => {
    const { page } = dashboard;
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.hit=1"><a style="color:red" id=probe>')`,
    );
    await until(() => page.evaluate<boolean>("document.querySelector('body > img').complete"));
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(dashboard.trouble.join()).toMatch(/Content Security Policy/);
    (dashboard.trouble as string[]).length = 0;
    await page.reload();
  });
});

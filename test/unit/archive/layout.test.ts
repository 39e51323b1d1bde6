import { describe, expect, it } from '@jest/globals';
import { attachmentName } from '../../../src/archive/content/attachment-name.js';
import {
  artefactPath,
  classOfKey,
  conflictClaimKey,
  conflictKey,
  deadEventKey,
  deadEventMarker,
  erasureKey,
  jobFolder,
  kindOfPath,
  LAST_ERASURE,
  NOTICES_FOLDER,
  outboxStateKey,
  quarantineFolder,
  quarantineMarker,
  reconcileReportKey,
  replayKey,
  verifyReportKey,
} from '../../../src/archive/layout.js';
import { ledgerPartition } from '../../../src/ledger/hours.js';
import { mergedObjectKey, recordKey } from '../../../src/ledger/ledger-keys.js';

describe('the kind of an artefact', () => {
  it('follows from its path', () => {
    expect(kindOfPath('transcript.json')).toBe('transcript.json-v2');
    expect(kindOfPath('conflicts/transcript.json.01ABC')).toBe('transcript.json-v2');
    expect(kindOfPath('attachments/transcript.json')).toBe('attachment');
  });

  it.each(['transcript.json', 'jobinfo.json', 'data'])(
    'is attachment for a conflict of an attachment that is called %s',
    (name) => {
      const identity = {
        kind: 'attachment',
        contentType: 'x/y',
        attachmentName: attachmentName(name, undefined),
      } as const;
      expect(kindOfPath(conflictKey('', artefactPath(identity), '01ABC'))).toBe('attachment');
    },
  );
});

describe('the kind of an object', () => {
  const folder = jobFolder('', 'j1');
  const hour = 'dt=2026-01-31/hour=00/';

  it.each([
    ['transcript', `${folder}transcript.json`],
    ['transcript', `${folder}transcript.txt`],
    ['transcript', `${folder}transcript.srt`],
    ['transcript', conflictKey(folder, 'transcript.json', '01ABC')],
    ['jobinfo', `${folder}jobinfo.json`],
    ['data', `${folder}data`],
    ['data', `${jobFolder('team-a/eu/', 'j1')}data`],
    ['data', conflictKey(folder, 'data', '01ABC')],
    ['data', conflictKey(folder, 'data', '01ABC-2')],
    ['attachment', `${folder}attachments/0a1b2c3d4e5f6071.bin`],
    ['quarantine', `${quarantineFolder('01ABC')}body`],
    ['ledger', `${ledgerPartition('2026-01-31T00:00:00Z')}x.ndjson`],
    ['ledger', mergedObjectKey('ledger/', hour, 1, '0a1b2c3d4e5f6071')],
    ['ledger', recordKey('ledger/', hour, 1)],
    ['reports', reconcileReportKey('2026-01-31T00:00:00Z')],
    ['reports', verifyReportKey('2026-01-31T00:00:00Z')],
    ['replays', replayKey('01ABC')],
  ])('is %s for %s', (kind, key) => {
    expect(classOfKey(key)).toBe(kind);
  });

  it.each([
    ...[erasureKey('j1'), LAST_ERASURE, conflictClaimKey(folder, 'data', 'f00')],
    ...[quarantineMarker('j1', '01ABC'), deadEventKey('billing', 'e1'), outboxStateKey('billing')],
    ...[deadEventMarker('j1', 'billing', 'e1')],
    ...[`${NOTICES_FOLDER}state.json`, '.canary/replica', '.probe/x', 'jobs/j1', 'other/data'],
  ])('is unknown for %s', (key) => {
    expect(classOfKey(key)).toBeNull();
  });
});

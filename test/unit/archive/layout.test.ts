import { describe, expect, it } from '@jest/globals';
import { artefactPath, conflictKey, kindOfPath } from '../../../src/archive/layout.js';
import { attachmentName } from '../../../src/content/attachment-name.js';

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

import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { attachmentName } from '../../../../src/archive/content/attachment-name.js';

function digits(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}

it.each(['Gespraech mit Dr.Schmidt', 'jane.roe', 'patient.19800203', 'J.MD', 'constructor', 'x.constructor'])(
  'an attachment named %j has no extension',
  (name) => {
    expect(attachmentName(name, undefined)).toBe(digits(name));
    expect(attachmentName(null, name)).toBe(digits(name));
    expect(attachmentName('notes', name)).toBe(digits('notes'));
  },
);

it.each([
  ['jane.roe.pdf', '.pdf'],
  ['Call.MP3', '.mp3'],
  ['a.7z', '.7z'],
])('%j has the extension %s', (name, extension) => {
  expect(attachmentName(name, undefined)).toBe(`${digits(name)}${extension}`);
});

it("the extension is the file name's where the name of the part has no known one", () => {
  expect(attachmentName('jane.roe', 'notes.docx')).toBe(`${digits('jane.roe')}.docx`);
});

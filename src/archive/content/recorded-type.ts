import { textKindOfType } from '../../domain/kinds.js';
import { parseMediaType } from './media-type.js';

/** Media types that the ledger records, by their first half: registered ones, and the usual names of types that are not. */
const KNOWN: Readonly<Record<string, string>> = {
  application: [
    'json xml pdf zip gzip x-gzip x-tar octet-stream x-www-form-urlencoded ndjson x-ndjson yaml rtf ogg mxf',
    'ld+json problem+json vnd.api+json ttml+xml msword vnd.ms-excel vnd.ms-powerpoint',
    'vnd.openxmlformats-officedocument.wordprocessingml.document',
    'vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ].join(' '),
  audio: [
    '3gpp 3gpp2 aac ac3 aiff amr amr-wb basic flac l16 l24 m4a matroska mp3 mp4 mpeg mpeg3 ogg opus pcma pcmu vorbis wav wave',
    'webm vnd.wave x-aac x-aiff x-caf x-flac x-gsm x-m4a x-matroska x-mpeg x-ms-wma x-pn-wav x-wav',
  ].join(' '),
  image: 'bmp gif jpeg png svg+xml tiff webp',
  multipart: 'alternative byteranges digest encrypted form-data mixed parallel related report signed',
  text: 'csv html json markdown plain rtf tab-separated-values vtt xml',
  video: [
    '3gpp 3gpp2 avi matroska mp2t mp4 mpeg ogg quicktime webm',
    'x-flv x-m4v x-matroska x-ms-asf x-ms-wmv x-msvideo',
  ].join(' '),
};

const KNOWN_TYPES = new Set(
  Object.entries(KNOWN).flatMap(([type, subtypes]) =>
    subtypes.split(' ').map((subtype) => `${type}/${subtype}`),
  ),
);

/**
 * A sender's content type as the ledger records it: a known type without parameters, else `other`. Any other text could be a name,
 * and ledger lines stay when a job is erased.
 */
export function recordedType(header: string): string {
  const { essence } = parseMediaType(header);
  return KNOWN_TYPES.has(essence) || textKindOfType(essence) !== null ? essence : 'other';
}

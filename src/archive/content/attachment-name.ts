import { hash } from 'node:crypto';

/** Only these count as extensions: the text after the last dot may also be part of a person's name, as in `jane.roe`. */
const KNOWN_EXTENSIONS = new Set(
  [
    'txt text log csv tsv json ndjson jsonl xml yaml yml html htm',
    'srt vtt ass ssa sbv ttml dfxp stl',
    'pdf doc docx odt rtf xls xlsx ods ppt pptx odp',
    'wav mp3 m4a aac ogg oga opus flac wma amr aif aiff au caf gsm raw pcm',
    'mp4 m4v mov mkv webm avi wmv mpg mpeg 3gp flv ts mts ogv mxf',
    'png jpg jpeg gif webp svg bmp tif tiff',
    'zip gz tgz tar bz2 xz zst 7z bin dat parquet',
  ].flatMap((line) => line.split(' ')),
);
const EXTENSION = /[^.]\.([A-Za-z0-9]{1,8})$/;
const DIGITS = 16;

/**
 * The last segment of an attachment's key: 16 hex digits of the SHA-256 of its name (the part's, else the file's), and its
 * extension in lower case where that is a known type of file. A sender's names can be personal data, and keys remain in ledger
 * and logs after the object is erased.
 */
export function attachmentName(name: string | null, fileName: string | undefined): string {
  const whole = name || fileName || '';
  return `${hash('sha256', whole).slice(0, DIGITS)}${extensionOf(whole) || extensionOf(fileName ?? '')}`;
}

function extensionOf(name: string): string {
  const extension = EXTENSION.exec(name)?.[1]?.toLowerCase() ?? '';
  return KNOWN_EXTENSIONS.has(extension) ? `.${extension}` : '';
}

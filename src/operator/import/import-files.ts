import type { Readable } from 'node:stream';
import type { StagedDelivery } from '../../archive/archive.js';
import { attachmentName } from '../../content/attachment-name.js';
import { UndecodableError } from '../../content/decode-error.js';
import { identityOf } from '../../content/item-identity.js';
import { type ItemPlan, PlannedItem } from '../../content/item-plan.js';
import { storableType } from '../../content/media-type.js';
import { partPlan } from '../../content/part-plan.js';
import { type PartShape, partShape } from '../../content/part-shape.js';
import type { ItemKind } from '../../domain/kinds.js';
import { Problem } from '../../domain/problem.js';

/** A file of the import form, about to be read. */
interface FormFile {
  readonly fieldName: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly stream: Readable;
}

/** Stores the files of one form one after the other, even if the form's parser passes several at once. */
export interface FileSink {
  add(file: FormFile): Promise<PartShape>;
  /** The shapes of the files so far, for the ledger line. */
  readonly files: readonly PartShape[];
}

/** Where the files go. Known once the first file begins: the text fields come before it. */
export interface FileDestination {
  readonly staged: StagedDelivery;
  readonly maxBytes: number;
  readonly kind: ItemKind | undefined;
}

/** Field names that say nothing about the kind of a file. */
const GENERIC_NAMES = new Set(['file', 'files', 'upload', 'artefact']);

export function createFileSink(begin: () => FileDestination): FileSink {
  const files: PartShape[] = [];
  let begun: FileDestination | null = null;
  let bytes = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function store(file: FormFile): Promise<PartShape> {
    begun ??= begin();
    const { staged, maxBytes, kind } = begun;
    const item = new PlannedItem(staged, planOf(file, kind), { fileName: file.fileName });
    for await (const chunk of file.stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new Problem('body-too-large', `This source accepts up to ${maxBytes} bytes.`);
      await item.write(chunk);
    }
    await item.end();
    const shape = partShape({ name: file.fieldName, contentType: file.contentType }, item.bytes);
    files.push(shape);
    return shape;
  }

  return {
    files,
    add(file) {
      const storing = last
        .then(() => store(file))
        .catch((error: unknown) => {
          throw error instanceof UndecodableError ? brokenFile(file, error) : error;
        });
      last = storing.catch(() => undefined);
      return storing;
    },
  };
}

function brokenFile({ fieldName }: FormFile, error: UndecodableError): Problem {
  const name = JSON.stringify(fieldName.slice(0, 64));
  return new Problem('body-malformed', `The file in ${name} is not what it is called: ${error.message}`);
}

/** Of the kind that was given, else of the kind that a callback's part of that name and content would have. */
function planOf({ fieldName, fileName, contentType }: FormFile, kind: ItemKind | undefined): ItemPlan {
  if (kind === 'attachment') {
    const identity = {
      ...identityOf('attachment', storableType(contentType)),
      attachmentName: attachmentName(null, fileName),
    };
    return { identify: () => identity };
  }
  const name = kind ?? (GENERIC_NAMES.has(fieldName.toLowerCase()) ? null : fieldName);
  return partPlan({ name, fileName, contentType });
}

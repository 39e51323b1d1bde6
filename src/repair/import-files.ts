import type { Readable } from 'node:stream';
import type { StagedDelivery } from '../archive/archive.js';
import { attachmentName } from '../content/attachment-name.js';
import { UndecodableError } from '../content/decode-error.js';
import { identityOf } from '../content/item-identity.js';
import { type ItemPlan, PlannedItem } from '../content/item-plan.js';
import { storableType } from '../content/media-type.js';
import { partPlan } from '../content/part-plan.js';
import { type PartShape, partShape } from '../content/part-shape.js';
import type { ItemKind } from '../domain/item.js';
import { Problem } from '../domain/problem.js';

/** A file of the import form, about to be read. */
export interface FormFile {
  readonly fieldName: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly stream: Readable;
}

/** Takes the files of one form one after the other, whatever the form's parser hands out at once. */
export interface FileTaker {
  take(file: FormFile): Promise<PartShape>;
  /** What was taken, for the ledger line. */
  readonly taken: readonly PartShape[];
}

/** What is known once the first file begins: by then the form has said where its files belong. */
export interface FileDestination {
  readonly staged: StagedDelivery;
  readonly maxBytes: number;
  readonly kind: ItemKind | undefined;
}

/** Field names that say nothing of a file. */
const MEANINGLESS = new Set(['file', 'files', 'upload', 'artefact']);

export function createFileTaker(begin: () => FileDestination): FileTaker {
  const taken: PartShape[] = [];
  let begun: FileDestination | null = null;
  let bytes = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function takeNow(file: FormFile): Promise<PartShape> {
    begun ??= begin();
    const { staged, maxBytes, kind } = begun;
    const item = new PlannedItem(staged, planOf(file, kind), { fileName: file.fileName });
    for await (const chunk of file.stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new Problem('body-too-large', `This source accepts up to ${maxBytes} bytes.`);
      const waiting = item.write(chunk);
      if (waiting !== undefined) await waiting;
    }
    await item.end();
    const told = partShape({ name: file.fieldName, contentType: file.contentType }, item.bytes);
    taken.push(told);
    return told;
  }

  return {
    taken,
    take(file) {
      const taking = last
        .then(() => takeNow(file))
        .catch((error: unknown) => {
          throw error instanceof UndecodableError ? brokenFile(file, error) : error;
        });
      last = taking.catch(() => undefined);
      return taking;
    },
  };
}

function brokenFile({ fieldName }: FormFile, error: UndecodableError): Problem {
  const name = JSON.stringify(fieldName.slice(0, 64));
  return new Problem('body-malformed', `The file in ${name} is not what it is called: ${error.message}`);
}

/** The kind that was given, else what a callback's part of that name and content would be. */
function planOf({ fieldName, fileName, contentType }: FormFile, kind: ItemKind | undefined): ItemPlan {
  if (kind === 'attachment') {
    const identity = {
      ...identityOf('attachment', storableType(contentType)),
      attachmentName: attachmentName(null, fileName),
    };
    return { identify: () => identity };
  }
  const name = kind ?? (MEANINGLESS.has(fieldName.toLowerCase()) ? null : fieldName);
  return partPlan({ name, fileName, contentType });
}

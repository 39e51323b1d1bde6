import type { Readable } from 'node:stream';
import type { StagedDelivery } from '../../../archive/archive.js';
import { attachmentName } from '../../../archive/content/attachment-name.js';
import { UndecodableError } from '../../../archive/content/decode-error.js';
import {
  type ItemPlan,
  type PartShape,
  PlannedItem,
  partPlan,
  partShape,
} from '../../../archive/content/item-plan.js';
import { JobIdFinder } from '../../../archive/content/job-id-finder.js';
import { storableType } from '../../../archive/content/media-type.js';
import { type ItemKind, identityOf, isJsonKind } from '../../../domain/kinds.js';
import { Problem } from '../../../domain/problem.js';

/** A file of the import form, about to be read. */
interface FormFile {
  readonly fieldName: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly stream: Readable;
}

export type FileSink = ReturnType<typeof createFileSink>;

/** Target of the files. Known once the first file begins: the text fields come before it. */
export interface FileDestination {
  readonly staged: StagedDelivery;
  readonly maxBytes: number;
  /** Job that transcripts and job records must name; null when they may name any. */
  readonly jobId: string | null;
  readonly kind: ItemKind | undefined;
}

/** Field names that do not determine the kind of a file. */
const GENERIC_NAMES = new Set(['file', 'files', 'upload', 'artefact']);

/** Stores the files of one form one after the other, even if the form's parser passes several at once. */
export function createFileSink(begin: () => FileDestination) {
  const files: PartShape[] = [];
  let begun: FileDestination | null = null;
  let bytes = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function store(file: FormFile): Promise<PartShape> {
    begun ??= begin();
    const { staged, maxBytes, jobId, kind } = begun;
    const owner = new OwnerCheck(planOf(file, kind));
    const item = new PlannedItem(staged, owner.plan, { fileName: file.fileName });
    for await (const chunk of file.stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new Problem('body-too-large', `This source accepts up to ${maxBytes} bytes.`);
      owner.push(chunk);
      await item.write(chunk);
    }
    await item.end();
    const other = owner.jobId;
    if (jobId !== null && other !== null && other !== jobId) throw fileOfOtherJob(file, other);
    const shape = partShape({ name: file.fieldName, contentType: file.contentType }, item.bytes);
    files.push(shape);
    return shape;
  }

  return {
    /** The shapes of the files so far, for the ledger line. */
    files,
    add(file: FormFile): Promise<PartShape> {
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

/** Finds the job that a transcript or a job record names. */
class OwnerCheck {
  readonly plan: ItemPlan;
  readonly #finder = new JobIdFinder();
  #kind: ItemKind | null = null;
  #isObject: boolean | null = null;

  constructor(plan: ItemPlan) {
    const identify = (beginning: Buffer, whole: boolean) => {
      const identity = plan.identify(beginning, whole);
      this.#kind = identity.kind;
      return identity;
    };
    this.plan = { identify, json: plan.json, mustBeJson: () => plan.mustBeJson?.() ?? false };
  }

  push(chunk: Buffer): void {
    this.#isObject ??= /^(\xef\xbb\xbf)?\s*\{/.test(chunk.subarray(0, 64).toString('latin1'));
    // Only objects are parsed, not media.
    if (this.#isObject) this.#finder.push(chunk);
  }

  /** Null for other files, and for those that name no job. */
  get jobId(): string | null {
    return this.#kind !== null && isJsonKind(this.#kind) ? this.#finder.id : null;
  }
}

function fileOfOtherJob({ fieldName }: FormFile, jobId: string): Problem {
  const [name, other] = [fieldName, jobId].map((text) => JSON.stringify(text.slice(0, 64)));
  return new Problem(
    'request-invalid',
    `The file in ${name} is of the job ${other}: import it there, or say that this is meant (--other-job, or otherJob=true in the form).`,
  );
}

function brokenFile({ fieldName }: FormFile, error: UndecodableError): Problem {
  const name = JSON.stringify(fieldName.slice(0, 64));
  return new Problem('body-malformed', `The file in ${name} is not what it is called: ${error.message}`);
}

/** Plans an item of the given kind, else of the kind of a callback's part with that name and content. */
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

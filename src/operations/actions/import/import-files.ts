import type { StagedDelivery } from '../../../archive/archive.js';
import { attachmentName } from '../../../archive/content/attachment-name.js';
import { UndecodableError } from '../../../archive/content/decode-error.js';
import { type ItemPlan, identityOf, PlannedItem } from '../../../archive/content/item-plan.js';
import { JobIdFinder } from '../../../archive/content/job-id-finder.js';
import { storableType } from '../../../archive/content/media-type.js';
import type { PartHead } from '../../../archive/content/part-head.js';
import { type PartShape, partPlan, partShape } from '../../../archive/content/part-plan.js';
import { type ItemKind, isJsonKind } from '../../../domain/kinds.js';
import { Problem } from '../../../domain/problem.js';
import type { OpenPart } from '../../../receive/decode/decode-multipart.js';

/** The head of a file of the import. */
interface FileHead extends PartHead {
  readonly name: string;
  readonly fileName: string;
}

/** Stores the files of one import, one after the other. */
export interface FileSink {
  open(file: FileHead): OpenPart;
  /** The shapes of the files so far, for the ledger line. */
  readonly files: readonly PartShape[];
}

/** Target of the files. Known once the first file begins: the text fields come before it. */
export interface FileDestination {
  readonly staged: StagedDelivery;
  readonly maxBytes: number;
  /** The job whose transcripts and records these are; null where they may be those of any. */
  readonly jobId: string | null;
  readonly kind: ItemKind | undefined;
}

/** Field names that say nothing about the kind of a file. */
const GENERIC_NAMES = new Set(['file', 'files', 'upload', 'artefact']);

export function createFileSink(begin: () => FileDestination): FileSink {
  const files: PartShape[] = [];
  let begun: FileDestination | null = null;
  let bytes = 0;
  return {
    files,
    open(file) {
      begun ??= begin();
      const { staged, maxBytes, jobId, kind } = begun;
      const owner = new OwnerCheck(planOf(file, kind));
      const item = new PlannedItem(staged, owner.plan, file);
      return {
        async write(chunk) {
          bytes += chunk.length;
          if (bytes > maxBytes)
            throw new Problem('body-too-large', `This source accepts up to ${maxBytes} bytes.`);
          owner.push(chunk);
          await namingFile(file, () => item.write(chunk));
        },
        async end() {
          await namingFile(file, () => item.end());
          const other = owner.jobId;
          if (jobId !== null && other !== null && other !== jobId) throw fileOfOtherJob(file, other);
          files.push(partShape(file, item.bytes));
        },
      };
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
    // Media are not searched.
    if (this.#isObject) this.#finder.push(chunk);
  }

  /** Null for what is neither, or names none. */
  get jobId(): string | null {
    return this.#kind !== null && isJsonKind(this.#kind) ? this.#finder.id : null;
  }
}

function fileOfOtherJob({ name: field }: FileHead, jobId: string): Problem {
  const [name, other] = [field, jobId].map((text) => JSON.stringify(text.slice(0, 64)));
  return new Problem(
    'request-invalid',
    `The file in ${name} is of the job ${other}: import it there, or say that this is meant (--other-job, or otherJob=true in the form).`,
  );
}

/** Names the file whose content is not what it is called. */
async function namingFile({ name: field }: FileHead, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error;
    const name = JSON.stringify(field.slice(0, 64));
    throw new Problem('body-malformed', `The file in ${name} is not what it is called: ${error.message}`);
  }
}

/** Plans an item of the kind that was given, else of the kind that a callback's part of that name and content would have. */
function planOf(file: FileHead, kind: ItemKind | undefined): ItemPlan {
  if (kind === 'attachment') {
    const identity = {
      ...identityOf('attachment', storableType(file.contentType ?? null)),
      attachmentName: attachmentName(null, file.fileName),
    };
    return { identify: () => identity };
  }
  const name = kind ?? (GENERIC_NAMES.has(file.name.toLowerCase()) ? null : file.name);
  return partPlan({ ...file, name });
}

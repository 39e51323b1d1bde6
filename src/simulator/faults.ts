import { seededChance } from './seeded-random.js';

export type NotificationFault =
  /** Not sent and recorded as no error, as if the callback had been delivered. */
  | { readonly kind: 'drop' }
  /** The attempt fails before it reaches the receiver; recorded and retried like any failure. */
  | { readonly kind: 'unreachable' }
  /** Sent again after it was accepted. */
  | { readonly kind: 'duplicate' }
  /** The connection is destroyed after this share of the body (0 to 1, half by default). */
  | { readonly kind: 'cut'; readonly share?: number }
  | { readonly kind: 'delay'; readonly ms: number };

export type ApiOperation =
  | 'list'
  | 'record'
  | 'transcript'
  | 'media'
  | 'submit'
  | 'delete'
  | 'usage'
  | 'keys';

/** Faults of the service's own interfaces. */
export type ApiFault =
  /**
   * Replaces the answer. A string is sent as HTML, as proxies do, anything else as JSON. `base64` sends exactly these bytes, with
   * `headers` for their type and encoding.
   */
  | {
      readonly kind: 'answer';
      readonly operation: ApiOperation;
      readonly status: number;
      readonly body?: unknown;
      readonly base64?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Ends a download after this share of its bytes (half by default). */
  | { readonly kind: 'cut-download'; readonly operation: 'transcript' | 'media'; readonly share?: number };

/** Where and how often a fault applies. Without any of these: always and everywhere. */
export interface FaultScope {
  readonly jobId?: string;
  readonly region?: string;
  /** Share of cases it applies to, drawn from the seed and the job, so that runs are repeatable. Default 1. */
  readonly rate?: number;
  /** Applies to this number of first attempts of a notification only. Default: 1 for faults that fail an attempt. */
  readonly attempts?: number;
  /** Applies at most this often. */
  readonly times?: number;
}

export type Fault = (NotificationFault | ApiFault) & FaultScope;

export interface Faults {
  /** Returns the name by which it can be removed. */
  add(fault: Fault): string;
  remove(name: string): boolean;
  clear(): void;
  list(): readonly { readonly name: string; readonly struck: number; readonly fault: Fault }[];
}

/** The simulator's side of `Faults`: which of them apply to an attempt or a request. Each fault returned counts as applied. */
export interface ActiveFaults extends Faults {
  ofAttempt(attempt: AttemptPlace): NotificationFault[];
  ofOperation(
    operation: ApiOperation,
    place: { region: string | null; jobId: string | null },
  ): ApiFault | null;
}

interface AttemptPlace {
  readonly jobId: string;
  readonly region: string;
  readonly entry: number;
  /** From 1. */
  readonly attempt: number;
}

interface ActiveFault {
  readonly name: string;
  readonly fault: Fault;
  struck: number;
}

/** Faults limited to the first attempt by default; otherwise every attempt of a notification would fail. */
const FIRST_ATTEMPT_ONLY = new Set<string>(['unreachable', 'cut', 'delay']);

function isApiFault(fault: Fault): fault is ApiFault & FaultScope {
  return fault.kind === 'answer' || fault.kind === 'cut-download';
}

export function createFaults(seed: string): ActiveFaults {
  const active = new Map<string, ActiveFault>();
  let added = 0;

  /** Draws by place, not by order, so that parallel notifications do not influence each other's draw. */
  const strikes = (one: ActiveFault, place: string): boolean => {
    if (one.struck >= (one.fault.times ?? Number.POSITIVE_INFINITY)) return false;
    if (!seededChance(`${seed}:${one.name}:${place}`, one.fault.rate ?? 1)) return false;
    one.struck += 1;
    return true;
  };

  return {
    add(fault) {
      added += 1;
      const name = `fault-${added}`;
      active.set(name, { name, fault, struck: 0 });
      return name;
    },
    remove: (name) => active.delete(name),
    clear: () => active.clear(),
    list: () => [...active.values()].map((one) => ({ ...one })),
    ofAttempt(place) {
      const found: NotificationFault[] = [];
      for (const one of active.values()) {
        const { fault } = one;
        if (isApiFault(fault) || !concernsAttempt(fault, place)) continue;
        if (strikes(one, `${place.jobId}:${place.entry}`)) found.push(fault);
      }
      return found;
    },
    ofOperation(operation, place) {
      for (const one of active.values()) {
        const { fault } = one;
        if (!isApiFault(fault) || fault.operation !== operation) continue;
        if (!concerns(fault, place)) continue;
        if (strikes(one, `${operation}:${place.jobId ?? one.struck}`)) return fault;
      }
      return null;
    },
  };
}

function concernsAttempt(fault: NotificationFault & FaultScope, place: AttemptPlace): boolean {
  const attempts = fault.attempts ?? (FIRST_ATTEMPT_ONLY.has(fault.kind) ? 1 : Number.POSITIVE_INFINITY);
  if (place.attempt > attempts) return false;
  return concerns(fault, place);
}

function concerns(scope: FaultScope, place: { region: string | null; jobId: string | null }): boolean {
  if (scope.jobId !== undefined && scope.jobId !== place.jobId) return false;
  return scope.region === undefined || scope.region === place.region;
}

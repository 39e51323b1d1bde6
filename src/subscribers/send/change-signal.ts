/** Lets callers wait for the next change of something that they look at again after each. */
export interface ChangeSignal {
  notify(): void;
  /** Resolves with the next call of `notify`. */
  next(): Promise<void>;
}

export function createChangeSignal(): ChangeSignal {
  let changed: () => void = () => undefined;
  let change = new Promise<void>((resolve) => {
    changed = resolve;
  });
  return {
    notify() {
      changed();
      change = new Promise((resolve) => {
        changed = resolve;
      });
    },
    next: () => change,
  };
}

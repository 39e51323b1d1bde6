/**
 * Upper bound of the queue. Beyond it callbacks run immediately; otherwise one client that pipelines requests could exhaust
 * memory, because Node reads on while no response is pending.
 */
const MAX_QUEUED = 256;

/**
 * Runs at most `perTurn` callbacks within one turn of the event loop, and queues the others for the next turns. Without it
 * a flood of refusals over a few hundred connections would delay every other event: an accepted delivery needs several
 * turns, and would wait for all refusals in each of them.
 *
 * @returns runs or queues a callback, which must not throw
 */
export function limitPerTurn(perTurn: number): (callback: () => void) => void {
  let ran = 0;
  let queue: (() => void)[] = [];
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(runQueued);
  }

  function runQueued(): void {
    isScheduled = false;
    const now = queue.slice(0, perTurn);
    queue = queue.slice(perTurn);
    ran = now.length;
    if (ran > 0) schedule();
    for (const callback of now) callback();
  }

  return (callback) => {
    schedule();
    const isFree = ran < perTurn && queue.length === 0;
    if (isFree || queue.length >= MAX_QUEUED) {
      ran += 1;
      callback();
    } else {
      queue.push(callback);
    }
  };
}

import { morph } from '../elements/morph.js';
import { heading, loadingPanel, problemPanel } from '../elements/panels.js';
import { poll } from './poll.js';

/** @import { Route } from './route.js' */

/** Milliseconds after which an answer is late, at least: one missed update of the busiest page. */
const LATE = 4000;
const NO_ANSWER = new Error('the receiver does not answer');

/** @typedef {ReturnType<typeof createScreen>} Screen */
/** @typedef {() => Promise<void>} Refresh brings the view up to date at once */

/**
 * What a view draws on: its part of the page, until the reader goes elsewhere.
 * @param {{root: HTMLElement, route: Route, onFreshness: (error: unknown) => void}} options
 * `onFreshness` is called with null after every update, and with what went wrong when there was none
 */
export function createScreen({ root, route, onFreshness }) {
  const ending = new AbortController();

  /** @param {...(ChildNode | false | null | ChildNode[])} nodes */
  function render(...nodes) {
    if (ending.signal.aborted) return;
    morph(
      root,
      nodes.flat().filter((node) => node !== null && node !== false),
    );
  }

  return {
    route,
    root,
    signal: ending.signal,
    render,
    /**
     * Sets the document's title and, unless the view is already there, shows its heading at once.
     * @param {string} text
     */
    start(text) {
      document.title = `${text} · Transcript Receiver`;
      if (root.childElementCount === 0) render(heading(text), loadingPanel());
    },
    /**
     * Runs `task` now and regularly; gives a function that runs it at once. A failure, or an answer that is late,
     * leaves what is shown, marked as old; `onStale` may say more about it.
     * @param {number} milliseconds @param {(signal: AbortSignal) => Promise<void>} task
     * @param {() => void} [onStale] @returns {Refresh}
     */
    keepFresh(milliseconds, task, onStale = () => {}) {
      /** @param {unknown} error */
      const stale = (error) => {
        if (ending.signal.aborted) return;
        root.dataset.stale = '';
        onFreshness(error);
        onStale();
      };
      const careful = async () => {
        const late = setTimeout(stale, Math.max(milliseconds, LATE), NO_ANSWER);
        try {
          await task(ending.signal);
          if (ending.signal.aborted) return true;
          delete root.dataset.stale;
          onFreshness(null);
          return true;
        } catch (error) {
          stale(error);
          if (!ending.signal.aborted)
            root.querySelector('[data-key=loading]')?.replaceWith(problemPanel(error));
          return false;
        } finally {
          clearTimeout(late);
        }
      };
      return poll(milliseconds, careful, ending.signal);
    },
    close: () => ending.abort(),
  };
}

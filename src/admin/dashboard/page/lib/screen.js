import { morph } from './morph.js';
import { heading, loadingPanel, problemPanel } from './panels.js';
import { every } from './poll.js';

/** What a view draws on: its part of the page, until the reader goes elsewhere. */
export function createScreen({ root, route, onFreshness }) {
  const ending = new AbortController();

  function render(...nodes) {
    if (ending.signal.aborted) return;
    morph(root, nodes.flat().filter(Boolean));
  }

  return {
    route,
    root,
    signal: ending.signal,
    render,
    /** Sets the document's title and, unless the view is already there, shows its heading at once. */
    start(text) {
      document.title = `${text} · Transcript Receiver`;
      if (root.childElementCount === 0) render(heading(text), loadingPanel());
    },
    /** Runs `task` now and regularly; gives a function that runs it at once. A failure leaves what is shown. */
    keepFresh(milliseconds, task) {
      const careful = async () => {
        try {
          await task(ending.signal);
          if (!ending.signal.aborted) onFreshness(null);
          return true;
        } catch (error) {
          if (ending.signal.aborted) return false;
          onFreshness(error);
          root.querySelector('[data-key=loading]')?.replaceWith(problemPanel(error));
          return false;
        }
      };
      return every(milliseconds, careful, ending.signal);
    },
    close: () => ending.abort(),
  };
}

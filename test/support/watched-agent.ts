import { Agent, type Dispatcher } from 'undici';

/** Connections that note the path of every request sent over them. */
export function watchedAgent(): { readonly dispatcher: Dispatcher; readonly paths: string[] } {
  const paths: string[] = [];
  const dispatcher = new Agent().compose((dispatch) => (request, handler) => {
    paths.push(request.path);
    return dispatch(request, handler);
  });
  return { dispatcher, paths };
}

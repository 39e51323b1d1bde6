import { problemCodesOf } from '../../src/operations/admin/api/openapi-document.js';
import { problemSchema } from '../../src/operations/answers/problem.js';
import { API_ROUTES } from './admin-api-routes.js';

export interface ReceivedAnswer {
  readonly status: number;
  readonly type: string;
  /** Null when it is not JSON. */
  readonly json: unknown;
}

/** How an answer of the admin API differs from the contract of its route; null when it does not. */
export function contractFault(method: string, path: string, answer: ReceivedAnswer): string | null {
  const [bare = ''] = path.split('?');
  const route = API_ROUTES.find(
    (each) => each.method === method.replace('HEAD', 'GET') && patternOf(each.path).test(bare),
  );
  // Undeclared routes are handled by the router: 404, 405, or 401 before that.
  if (route === undefined) return null;
  const name = `${method} ${route.path}`;
  const [type = ''] = answer.type.split(';');
  if (type === 'application/problem+json') {
    if (method === 'HEAD') return null;
    const { data, error } = problemSchema.safeParse(answer.json);
    if (data === undefined) return `${name} answered no valid problem: ${error?.message}`;
    return problemCodesOf(route).includes(data.code)
      ? null
      : `${name} does not declare the problem ${data.code}`;
  }
  const declared = route.answers[answer.status];
  if (declared === undefined) return `${name} does not declare ${answer.status}`;
  if (declared === null) return null;
  const types = 'contentTypes' in declared ? declared.contentTypes : ['application/json'];
  if (!types.includes(type) && !types.includes(type.replace(/\/.*/, '/*'))) {
    return `${name} does not declare ${answer.status} with ${type || 'no content'}`;
  }
  if ('contentTypes' in declared || method === 'HEAD') return null;
  const { error } = declared.safeParse(answer.json);
  return error === undefined
    ? null
    : `${name} answered ${answer.status} against its schema: ${error.message}`;
}

function patternOf(path: string): RegExp {
  const pattern = path.replaceAll('.', '\\.').replaceAll(/\*\w+/g, '.+').replaceAll(/:\w+/g, '[^/]+');
  return new RegExp(`^${pattern}$`);
}

import { Ajv2020 } from 'ajv/dist/2020.js';
import { describeApi } from '../../src/admin/api/openapi/description.js';

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>
  >;
}

const description = describeApi('test') as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
};
const ajv = new Ajv2020({ allErrors: true, strict: false });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
ajv.addSchema({ $id: 'api', components: description.components });

/** What an answer of the admin API and its description do not agree on; null when they do. */
export function undescribed(
  method: string,
  path: string,
  answer: { readonly status: number; readonly type: string; readonly json: unknown },
): string | null {
  const bare = path.split('?')[0] ?? '';
  const template = Object.keys(description.paths).find((each) => patternOf(each).test(bare));
  const operation =
    template === undefined
      ? undefined
      : description.paths[template]?.[method.replace('HEAD', 'GET').toLowerCase()];
  // What is not there is told by the API itself: 404, 405, or 401 before that.
  if (operation === undefined) return null;
  const response = operation.responses[answer.status];
  if (response === undefined) return `${method} ${template} does not describe ${answer.status}`;
  const [type = ''] = answer.type.split(';');
  const { content } = response;
  const described = [type, type.replace(/\/.*/, '/*')].find((each) => content?.[each] !== undefined);
  if (content !== undefined && described === undefined) {
    return `${method} ${template} does not describe ${answer.status} with ${type || 'no content'}`;
  }
  const schema = content?.[described ?? '']?.schema;
  if (
    schema === undefined ||
    method === 'HEAD' ||
    (template?.endsWith('{path}') === true && answer.status < 300)
  ) {
    return null;
  }
  const { $ref } = schema as { $ref: string };
  const validate = ajv.compile({ $ref: `api${$ref}` });
  if (validate(answer.json)) return null;
  return `${method} ${template} answered ${answer.status} otherwise than described: ${ajv.errorsText(validate.errors)}`;
}

function patternOf(template: string): RegExp {
  const pattern = template.replaceAll('{path}', '.+').replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern.replaceAll('.json', '\\.json')}$`);
}

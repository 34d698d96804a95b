import { type Caller, JSON_TYPE, type OperationExample } from '../platform/http/operation.ts';
import { shellWord } from '../platform/shell.ts';
import { type DescribedRoute, pathOf } from './document.ts';

const CREDENTIALS: Partial<Readonly<Record<Caller, string>>> = {
  'access token': '$ACCESS_TOKEN',
  'admin key': '$ADMIN_KEY',
  'registration access token': '$REGISTRATION_ACCESS_TOKEN',
};

/** A command that sends an example to this server. */
export function curlOf(issuer: string, route: DescribedRoute, example: OperationExample): string {
  const { method, schema } = route;
  const { params = {}, query = {}, body, file, answer } = example;
  const path = pathOf(route, issuer).replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
  const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : '';
  const credential = CREDENTIALS[schema.caller];
  const [type = ''] = schema.consumes ?? [];
  const isJson = schema.consumes?.includes(JSON_TYPE) ?? true;
  return [
    // Where no JSON answers, the status and the headers say what became of it.
    `curl ${answer === undefined ? '-si' : '-s'} ${shellWord(issuer + path + search)}`,
    ...(method === 'GET' || (method === 'POST' && body !== undefined) ? [] : [`-X ${method}`]),
    ...(credential === undefined ? [] : [`-H "authorization: Bearer ${credential}"`]),
    ...(file === undefined ? [] : [`-H 'content-type: ${type}'`, `--data-binary @picture.${type.split('/')[1]}`]),
    ...(body === undefined
      ? []
      : isJson
        ? [`-H 'content-type: application/json'`, `-d ${shellWord(JSON.stringify(body, null, 2))}`]
        : Object.entries(body).map(([name, value]) => `--data-urlencode ${shellWord(`${name}=${value}`)}`)),
  ].join(' \\\n  ');
}

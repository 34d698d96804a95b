import { DEVICE_GRANT } from '../../src/clients/rules/registration.ts';
import { readAnswerToDevice, readJson, readPage, readTokens } from './answers.ts';
import { type App, credentialsOf, SCOPE } from './apps.ts';
import { getPage, hiddenFields, postForm } from './browser.ts';
import { LOGIN } from './expected.ts';
import type { Moment } from './history.ts';
import { postJson } from './wire.ts';
import type { Code, Person, World } from './world.ts';

/** A device that waits for a person. */
export interface Device {
  readonly name: string;
  readonly app: App;
  readonly deviceCode: string;
  readonly userCode: string;
}

/** RFC 8628 §3.1; undefined where the app was refused. */
export async function startDevice(world: World, app: App): Promise<Device | undefined> {
  const { texts } = await world.perform(
    ({ device }) => ({ kind: 'start device', client: app.name, ...(device !== undefined && { device }) }),
    (wire) => postJson(wire, '/oidc/device_authorization', { ...credentialsOf(app), scope: SCOPE }),
    (answer) => {
      const texts = answer.status === 200 ? (JSON.parse(answer.text) as Record<string, string>) : undefined;
      const device = texts && { device: world.nameOf('d', texts['device_code'] ?? '') };
      return { ...readJson(answer), ...device, texts };
    },
  );
  if (texts === undefined) return undefined;
  const { device_code: deviceCode = '', user_code: userCode = '' } = texts;
  return { name: world.nameOf('d', deviceCode), app, deviceCode, userCode };
}

/** RFC 8628 §3.3: a person types the code and answers the page. What the device may exchange then, if it was allowed. */
export async function answerDevice(
  world: World,
  person: Person,
  device: Device,
  decision: 'allow' | 'deny',
): Promise<Code | undefined> {
  const { session, name: user } = person;
  if (session === undefined) return undefined;
  const { cookie } = session;
  const typing = await page(world, '/device', cookie, '/device');
  if (typing.form === undefined) return undefined;
  const typed = { ...typing.form, user_code: device.userCode };
  const begun = await world.perform(
    { kind: 'page' },
    (wire) => postForm(wire, '/device', cookie, typed),
    (answer) => ({ ...readPage(answer), location: answer.headers['location'] }),
  );
  if (typeof begun.location !== 'string') return undefined;
  const next = await page(world, begun.location, cookie, '/consent');
  if (typeof next.location !== 'string') return undefined;
  const asked = await page(world, next.location, cookie, '/consent');
  if (asked.form === undefined) return undefined;
  const { start, end } = asked.operation;
  const shown: Moment = { start, end };
  const fields = { ...asked.form, decision, 'allow email': 'on' };
  const { outcome } = await world.perform(
    {
      ...{ kind: 'answer device', decision, device: device.name },
      ...{ user, client: device.app.name, session: session.name, shown },
    },
    (wire) => postForm(wire, '/consent', cookie, fields),
    (answer) => readAnswerToDevice(answer, decision),
  );
  if (outcome === LOGIN && person.session === session) person.session = undefined;
  if (outcome !== 'ok' || decision === 'deny') return undefined;
  return world.keep(device.deviceCode, { person, app: device.app, endpointSet: 'oidc' }, 'd');
}

/** A page that is only looked at, with the form that it has. */
const page = (world: World, path: string, cookie: string, action: string) =>
  world.perform(
    { kind: 'page' },
    (wire) => getPage(wire, path, cookie),
    (answer) => ({ ...readPage(answer), form: hiddenFields(answer, action), location: answer.headers['location'] }),
  );

/** RFC 8628 §3.4. @param code what it may exchange, where a person allowed it */
export async function poll(
  world: World,
  { name, app, deviceCode }: Pick<Device, 'name' | 'app' | 'deviceCode'>,
  code?: Code,
  node?: number,
): Promise<string> {
  const body = { grant_type: DEVICE_GRANT, device_code: deviceCode, ...credentialsOf(app) };
  const done = await world.perform(
    (read) => ({ kind: 'poll', at: 'oidc', device: name, ...world.tokensOf(read) }),
    (wire) => postJson(wire, '/oidc/token', body),
    readTokens,
    node,
  );
  if (code !== undefined) world.begin(code, done);
  return done.outcome;
}

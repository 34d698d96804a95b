import { deleteAccount, getAccount, openAccount, userNotFound } from '../../account-actions/accounts/accounts.ts';
import { updateAccount } from '../../account-actions/addresses/update-account.ts';
import type { Made } from '../../account-actions/makers/list-made.ts';
import {
  cancelDeletion,
  ScheduleDeletionRequest,
  scheduleDeletion,
} from '../../account-actions/personal-data/deletion.ts';
import { UpdateUserRequest } from '../../accounts/schema.ts';
import { type Account, lockAccount } from '../../accounts/store.ts';
import { field, fieldProblem, generalProblem, isolate, moment, selectField, textArea } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { beforeFirstCommit } from '../../platform/database/first-commit.ts';
import { invalid } from '../../platform/failure.ts';
import { validate } from '../../platform/validation/validate.ts';
import { type ConsoleAct, defineAct, type Given } from '../act.ts';
import { barAsked, endMadeChoice, isMadeToEnd, madeToAsk } from '../operators/made.ts';
import { StalePage, seenVersion, versionOfShown } from '../seen.ts';
import type { ConsoleVisit } from '../visit.ts';
import { personAddress } from './frame.ts';

const PEOPLE = '/console/people';

const textsOf = ({ services }: ConsoleVisit) => services.site.messages.operators.record;
const find = ({ services, named }: ConsoleVisit): Promise<Account> => getAccount(services, named.id ?? '');
const openRecord = ({ services, named, origin }: ConsoleVisit): Promise<Account> =>
  openAccount(services, named.id ?? '', 'record', origin);
const identified = ({ id, profile }: Account): Html =>
  html`${isolate(profile.username)} · <span class="figures">${id}</span>`;
const nameOf = ({ profile }: Account): Html => isolate(profile.displayName);
const back = (visit: ConsoleVisit, account: Account) => ({
  back: personAddress(account.id),
  backTo: visit.services.site.messages.operators.back(nameOf(account)),
});

const CORRECTED = ['displayName', 'username', 'email'] as const;

/** What was typed differently from what is stored. */
function corrections({ profile }: Account, given: Given): Readonly<Record<string, string | boolean>> {
  const typed = CORRECTED.map((name) => [name, (given.get(name) ?? '').trim()] as const);
  const isVerified = given.get('verified') === 'yes';
  return {
    ...Object.fromEntries(typed.filter(([name, value]) => value !== profile[name])),
    ...(isVerified !== profile.emailVerified && { emailVerified: isVerified }),
  };
}

const versionOf = ({ profile }: Account): string =>
  versionOfShown(...CORRECTED.map((name) => profile[name]), profile.emailVerified);

const correct = defineAct<Account>({
  ...{ address: `${PEOPLE}/correct`, section: 'people', permission: 'users.update' },
  objects: { person: 'id' },
  isDangerous: false,
  find,
  open: openRecord,
  ask(visit, account, given, problems) {
    const { correct: text } = textsOf(visit);
    const { profile } = account;
    // A field that was sent empty is empty.
    const isSent = given.get('seen') !== undefined;
    const input = (name: (typeof CORRECTED)[number], hint?: string) =>
      field({
        ...{
          name,
          label: text[name],
          autocomplete: 'off',
          problems,
          value: given.get(name) ?? (isSent ? '' : profile[name]),
        },
        ...(hint !== undefined && { hint }),
        type: name === 'email' ? 'email' : 'text',
      });
    const isVerified = isSent ? given.get('verified') === 'yes' : profile.emailVerified;
    return {
      ...{ title: text.title(nameOf(account)), object: identified(account), lead: text.lead, submit: text.submit },
      fields: html`${input('displayName')}${input('username', text.usernameHint)}${input('email', text.emailHint)}<label class="check"><input type="checkbox" name="verified" value="yes"${isVerified && html` checked`}><span>${text.verified}</span></label>`,
      about: { id: account.id, seen: seenVersion(versionOf(account), given, problems) },
      back: personAddress(account.id),
    };
  },
  async run(visit, account, given) {
    const { correct: text } = textsOf(visit);
    const change = validate(UpdateUserRequest, corrections(account, given));
    const database = beforeFirstCommit(visit.services.database, function* check() {
      const current = yield* lockAccount({ id: account.id });
      if (current === undefined) throw userNotFound(account.id);
      if (versionOf(current) !== given.get('seen')) throw new StalePage('account');
    });
    const changed = await updateAccount({ ...visit.services, database }, account.id, change, visit.origin);
    return { title: text.done(nameOf(changed)), now: text.now, ...back(visit, changed) };
  },
  problemOf(visit, failure, { profile }) {
    const { correct: text } = textsOf(visit);
    if (failure instanceof StalePage) {
      const stored = CORRECTED.map((name) => html`<br>${text[name]}: ${isolate(profile[name])}`);
      return generalProblem(html`${text.stale} ${stored}`);
    }
    const name = CORRECTED.find((field) => failure.message.startsWith(field));
    if (name === undefined) return undefined;
    return fieldProblem(name, failure.kind === 'conflict' ? text.taken[name] : text.bad[name]);
  },
});

interface Barring {
  readonly account: Account;
  readonly made: Made | undefined;
}

const findBarring = async (visit: ConsoleVisit): Promise<Barring> => {
  const account = await find(visit);
  return { account, made: await madeToAsk(visit, account.id) };
};
const openBarring = async (visit: ConsoleVisit): Promise<Barring> => {
  const account = await openRecord(visit);
  return { account, made: await madeToAsk(visit, account.id) };
};
/** What the person made as an operator, with the choice to end it; nothing for a person who made nothing. */
const madeChoice = (visit: ConsoleVisit, made: Made | undefined, given: Given): HtmlPart =>
  made && endMadeChoice(visit.services.site, visit, made, isMadeToEnd(given));

const offboard = defineAct<Barring>({
  ...{ address: `${PEOPLE}/offboard`, section: 'people', permission: 'users.delete' },
  objects: { person: 'id' },
  isDangerous: true,
  find: findBarring,
  open: openBarring,
  ask(visit, { account, made }, given, problems) {
    const { offboard: text } = textsOf(visit);
    const { acts } = visit.services.site.messages.operators;
    const options = Object.entries(text.daysOf);
    return {
      ...{ title: text.title(nameOf(account)), object: identified(account), lead: text.lead, submit: text.submit },
      fields: html`${selectField({ name: 'days', label: text.days, value: given.get('days') ?? '30', problems, options })}${textArea(
        {
          ...{ name: 'reason', label: acts.reasonLabel, hint: acts.reasonHint, rows: 2, problems },
          value: given.get('reason') ?? '',
        },
      )}${madeChoice(visit, made, given)}`,
      ...{ about: { id: account.id }, back: personAddress(account.id) },
    };
  },
  async run(visit, { account: { id } }, given) {
    const { offboard: text } = textsOf(visit);
    const reason = (given.get('reason') ?? '').trim();
    const days = Number(given.get('days') ?? '30');
    const asked = validate(ScheduleDeletionRequest, { days, ...(reason !== '' && { reason }) });
    const { result: account, made: more } = await barAsked(visit, id, given, (services) =>
      scheduleDeletion(services, id, asked, visit.origin),
    );
    const due = moment(account.deletionDueAt ?? 0);
    return { title: text.done(nameOf(account)), now: text.now(due), more, ...back(visit, account) };
  },
  problemOf(visit, { message }) {
    const { acts } = visit.services.site.messages.operators;
    if (message.startsWith('days')) return fieldProblem('days', textsOf(visit).offboard.daysBad);
    return message.startsWith('reason') ? fieldProblem('reason', acts.badReason) : undefined;
  },
});

const keep = defineAct<Account>({
  ...{ address: `${PEOPLE}/cancel-deletion`, section: 'people', permission: 'users.delete' },
  objects: { person: 'id', keepsPerson: true },
  isDangerous: false,
  find,
  open: openRecord,
  ask(visit, account) {
    const { keep: text } = textsOf(visit);
    const words = { title: text.title(nameOf(account)), lead: text.lead, submit: text.submit };
    return { ...words, object: identified(account), about: { id: account.id }, back: personAddress(account.id) };
  },
  async run(visit, { id }) {
    const { keep: text } = textsOf(visit);
    const account = await cancelDeletion(visit.services, id, visit.origin);
    const now = account.suspendedAt === null ? text.now : text.nowSuspended;
    return { title: text.done(nameOf(account)), now, ...back(visit, account) };
  },
});

const remove = defineAct<Barring>({
  ...{ address: `${PEOPLE}/delete`, section: 'people', permission: 'users.delete' },
  objects: { person: 'id' },
  isDangerous: true,
  find: findBarring,
  open: openBarring,
  ask(visit, { account, made }, given, problems) {
    const { remove: text } = textsOf(visit);
    return {
      ...{ title: text.title(nameOf(account)), object: identified(account), lead: text.lead, submit: text.submit },
      fields: html`${field({
        ...{ name: 'typed', label: text.typed, hint: text.typedHint, type: 'text', autocomplete: 'off', problems },
        value: given.get('typed') ?? '',
      })}${madeChoice(visit, made, given)}`,
      ...{ about: { id: account.id }, back: personAddress(account.id) },
    };
  },
  async run(visit, { account }, given) {
    const { remove: text } = textsOf(visit);
    if ((given.get('typed') ?? '').trim() !== account.profile.username) throw invalid('typed');
    const { made: more } = await barAsked(visit, account.id, given, (services) =>
      deleteAccount(services, account.id, visit.origin),
    );
    return { title: text.done(nameOf(account)), now: text.now, more, back: PEOPLE, backTo: text.backTo };
  },
  problemOf: (visit, { message }) =>
    message === 'typed' ? fieldProblem('typed', textsOf(visit).remove.typedBad) : undefined,
});

/** The acts on the record of a person: correcting it, and deleting it, now or later. */
export const recordActs: readonly ConsoleAct[] = [correct, offboard, keep, remove];

/** Those that are offered in the state that an account is in. */
export const offeredRecordActs = ({
  deletionDueAt,
}: Account): readonly ('correct' | 'offboard' | 'keep' | 'remove')[] => [
  'correct',
  ...(deletionDueAt === null ? (['offboard'] as const) : (['keep'] as const)),
  'remove',
];

/** Where each is confirmed, with the permission that it needs. */
export const RECORD_ACTS = { correct, offboard, keep, remove } as const;

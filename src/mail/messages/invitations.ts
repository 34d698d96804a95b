import { type MailContent, spaced } from '../content.ts';

/** Their readers may know nothing of this service. */
interface Host {
  /** Of the base URL. */
  readonly host: string;
}

/** The messages that bring people an account. */
export const invitationMails = {
  /** @param invitation.organization undefined where the person is invited to an account alone */
  invited: ({
    organization,
    url,
    days,
    host,
  }: Host & {
    readonly organization: string | undefined;
    readonly url: string;
    readonly days: number;
  }): MailContent => ({
    subject: organization === undefined ? 'You are invited' : `You are invited to ${organization}`,
    paragraphs: [
      organization === undefined
        ? `You are invited to create an account at ${host} with this email address.`
        : `You are invited to join the organization ${organization} at ${host} with this email address.`,
    ],
    action: { label: 'Open the invitation', url },
    footer: [
      `The link works for ${days === 1 ? 'one day' : `${days} days`}, once. If you do not want to join, ignore this message.`,
    ],
  }),

  /** To the address of a sign-up. It repeats nothing of the form: a stranger may have typed it. */
  signUp: ({ code, url, host }: Host & { readonly code: string; readonly url: string }): MailContent => ({
    subject: `${spaced(code)} confirms your email address`,
    paragraphs: [`To create your account at ${host}, enter this code in the browser where you started:`],
    code,
    action: { label: 'Confirm in the same browser', url },
    footer: [
      'The code and the link work for 15 minutes.',
      'If you did not ask for an account, ignore this message. No account is created.',
    ],
  }),

  /** To the address of an account, with which somebody signs up. It repeats nothing of the form either. */
  exists: ({ username, url }: { readonly username: string; readonly url: string }): MailContent => ({
    subject: 'You already have an account',
    paragraphs: [
      `Someone tried to create an account with this email address. You already have one: your username is ${username}.`,
      'Nothing was changed. If it was you, sign in instead. If you forgot your password, the sign-in page helps you.',
    ],
    action: { label: 'Sign in', url },
    footer: ['If it was not you, you can ignore this message.'],
  }),
} as const;

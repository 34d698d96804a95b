import { type MailContent, spaced } from '../content.ts';

/** A message about the address of an account, whose address this is or was. */
interface AboutAccount {
  readonly username: string;
}

/** The messages about the address of an account. */
export const addressMails = {
  /** To an address that a person says is theirs. It may be a stranger's, who is told nothing that the person chose. */
  verify: ({
    url,
    code,
    host,
  }: {
    readonly url: string;
    readonly code: string;
    readonly host: string;
  }): MailContent => ({
    subject: `${spaced(code)} confirms your email address`,
    paragraphs: [
      `Somebody, most likely you, asked to use this email address for an account at ${host}.`,
      'Open the link in the browser where you asked for this, or type the code there.',
    ],
    code,
    action: { label: 'Confirm this address', url },
    footer: [
      'The link and the code work once, for 15 minutes. Never share this code.',
      'If you did not ask for this, do nothing: without the link or the code, nothing changes.',
    ],
  }),

  /** To the address of an account that was never verified, where an operator asks for it. */
  reminder: ({ username, url }: AboutAccount & { readonly url: string }): MailContent => ({
    subject: 'Verify your email address',
    paragraphs: [
      `The account ${username} has this email address, which was never verified. An operator of this service asks you to verify it.`,
      'Sign in, and press the button on the page that opens. We then send another message, with the link that verifies the address.',
    ],
    action: { label: 'Verify this address', url },
    footer: ['If this is not your account, do nothing.'],
  }),

  /** To an address that another account has, where somebody asked to have it. */
  exists: ({ username, url }: AboutAccount & { readonly url: string }): MailContent => ({
    subject: 'You already have an account',
    paragraphs: [
      'Somebody asked to use this email address for another account. Nothing was changed.',
      `This address belongs to the account ${username}. If it was you who asked, sign in to that account, or recover it.`,
    ],
    action: { label: 'Sign in', url },
    footer: ['If it was not you, there is nothing to do.'],
  }),

  /** To the address that an account had until now. */
  lost: ({ username, email, url }: AboutAccount & { readonly email: string; readonly url: string }): MailContent => ({
    subject: 'The email address of your account was changed',
    paragraphs: [
      `The account ${username} now has the email address ${email}. It had this one before.`,
      'If this was you, there is nothing to do.',
    ],
    action: { label: 'This was not me: undo', url },
    footer: [
      'Before anything happens, the page asks you to confirm. Then the account gets this address back, every session ends, and what was added since is removed. The link works for seven days, and longer if the address is changed again, so keep this message.',
    ],
  }),

  /** To the new address of an account. */
  gained: ({ username, isEarlierTold }: AboutAccount & { readonly isEarlierTold: boolean }): MailContent => ({
    subject: 'This is your new email address',
    paragraphs: [
      `This is now the email address of the account ${username}.`,
      ...(isEarlierTold ? ['We told the earlier address, which can undo the change for seven days.'] : []),
    ],
  }),

  /** To an earlier address of an account, whose owner says that its mailbox is no longer theirs. */
  rightClosed: ({ username }: AboutAccount): MailContent => ({
    subject: 'You can no longer undo a change of address',
    paragraphs: [
      `The account ${username} had this email address until a few days ago. The link with which this address could undo the change no longer works.`,
      'The account’s owner ended it, and confirmed this with a second factor that was set up before the change. If that was not you, ask for help.',
    ],
  }),

  /** The message to the oldest earlier address, after another earlier one has undone a change. */
  olderRight: ({ username }: AboutAccount): MailContent => ({
    subject: 'The email address of your account was changed',
    paragraphs: [
      `A change of the email address of the account ${username} was undone: it has another of its earlier addresses again. Until a few days ago it had this one.`,
      'If that was not you, open the message about the change from this address and use its link. It still works, for seven days from now, and gives the account back to this address.',
    ],
  }),

  /** To an earlier address of an account, when an operator decides that the account keeps its present one. */
  rightEnded: ({ username }: AboutAccount): MailContent => ({
    subject: 'You can no longer undo a change of address',
    paragraphs: [
      `The account ${username} had this email address until a few days ago. The link with which this address could undo the change no longer works.`,
      'An operator of this service decided that the account keeps its present address. If the account is yours, ask for help.',
    ],
  }),

  /**
   * To the address that an account has again.
   * @param about.undone the sentences that say what was removed, and what works again
   */
  regained: ({ username, undone }: AboutAccount & { readonly undone: readonly string[] }): MailContent => ({
    subject: 'Your account has its earlier email address again',
    paragraphs: [
      `This is the email address of the account ${username} again.`,
      'The address that it had in between can no longer change anything.',
      ...undone,
    ],
  }),

  /** To the address that an account no longer has, because a change to it was undone. */
  changeUndone: ({ username }: AboutAccount): MailContent => ({
    subject: 'A change of email address was undone',
    paragraphs: [
      `The account ${username} has its earlier email address again. Every session was ended.`,
      'This was done by the owner of the earlier address. If you have questions, ask for help.',
    ],
  }),
} as const;

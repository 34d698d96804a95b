/** The texts of the mailbox. */
export const mailboxMessages = {
  title: 'Mailbox',
  lead: 'Mail that would have been sent if a mail server were set. Only browsers on this machine that were opened with its link see this page.',
  closedTitle: 'The mailbox opens by a link',
  closed:
    'Its messages let people into their accounts, and a proxy on this machine may show this page to strangers. So it opens only by the link that the server printed when it started. To print that again, run this where the server runs:',
  copyCommand: 'Copy the command',
  empty: 'No messages yet. What the server would send appears here for a day, the newest 50 messages.',
  gone: 'This message is not here any more.',
  to: 'To',
  link: 'the link',
  code: 'the code',
  look: 'See it as mail programs show it',
  back: 'All messages',
} as const;

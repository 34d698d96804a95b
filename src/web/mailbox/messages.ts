/** The texts of the mailbox. */
export const mailboxMessages = {
  title: 'Mailbox',
  lead: 'Mail that would have been sent if a mail server were set. Only this machine sees this page.',
  empty: 'No messages yet. What the server would send appears here for a day, the newest 50 messages.',
  gone: 'This message is not here any more.',
  to: 'To',
  link: 'the link',
  code: 'the code',
  back: 'All messages',
} as const;

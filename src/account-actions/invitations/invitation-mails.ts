import type { MailContent } from '../../mail/content.ts';

/** The message that brings a person their invitation. */
export const invitationMail = (organization: string | undefined, link: string, days: number): MailContent => ({
  subject: organization === undefined ? 'You are invited' : `You are invited to ${organization}`,
  paragraphs: [
    organization === undefined
      ? 'You are invited to create an account with this email address.'
      : `You are invited to join the organization ${organization} with this email address.`,
  ],
  action: { label: 'Open the invitation', url: link },
  footer: [`The link works for ${days} days, once. If you do not want to join, ignore this message.`],
});

import type { MailContent } from '../content.ts';

/** The message that shows an operator whether mail arrives. */
export const testMail = ({ baseUrl }: { readonly baseUrl: string }): MailContent => ({
  subject: 'Test message',
  paragraphs: [`Mail from ${baseUrl} arrives here.`, 'You can delete this message.'],
});

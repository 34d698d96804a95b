import { isMailDelayed } from '../../mail/mail.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PageServices } from './routes.ts';

/** What is to be known where a message is awaited: it is in the mailbox of this server, or mail is delayed. The same for every address. */
export async function mailHint({
  site,
  mailbox,
  database,
  clock,
}: Pick<PageServices, 'site' | 'mailbox' | 'database' | 'clock'>): Promise<Html | undefined> {
  const { mail: text } = site.messages;
  if (mailbox) {
    const box = html`<a href="${site.path('/mailbox')}">${text.mailboxName}</a>`;
    return html`<div class="notice"><p>${text.mailbox(box)}</p></div>`;
  }
  const now = clock();
  return (await database.read(() => isMailDelayed(now)))
    ? html`<div class="notice" role="status"><p>${text.delayed}</p></div>`
    : undefined;
}

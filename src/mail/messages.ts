import { addressMails } from './messages/addresses.ts';
import { invitationMails } from './messages/invitations.ts';
import { layoutTexts } from './messages/layout.ts';
import { noticeMails, noticeTexts } from './messages/notices.ts';
import { personalDataMails } from './messages/personal-data.ts';
import { recoveryMails } from './messages/recovery.ts';
import { scopeRequestMails } from './messages/scope-requests.ts';
import { testMail } from './messages/test-message.ts';
import { undoneTexts } from './messages/undone.ts';

/**
 * The texts of the messages. Another language is another object of this type. A message is a function of the values that it names; a
 * choice between two texts is a choice between two entries.
 */
export const mailTexts = {
  language: 'en',
  layout: layoutTexts,
  addresses: addressMails,
  recovery: recoveryMails,
  invitations: invitationMails,
  personalData: personalDataMails,
  notices: noticeMails,
  noticeTexts,
  undone: undoneTexts,
  scopeRequests: scopeRequestMails,
  test: testMail,
};

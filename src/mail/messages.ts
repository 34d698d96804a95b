import { addressMails } from './messages/addresses.ts';
import { layoutTexts } from './messages/layout.ts';

/**
 * The texts of the messages. Another language is another object of this type. A message is a function of the values that it names; a
 * choice between two texts is a choice between two entries.
 */
export const mailTexts = {
  language: 'en',
  layout: layoutTexts,
  addresses: addressMails,
};

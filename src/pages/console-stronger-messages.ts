/** Why an operator may not act on a person. */
export const strongerTexts = {
  stronger: (permission: string): string =>
    `This person holds a permission that you lack (${permission}), so you cannot act on their account.`,
  cannotOpen: {
    'held for longer':
      'This person holds a role for longer than you hold yours, so you cannot change how they sign in. Ask an operator whose role ends no earlier.',
    'own account':
      'This is your own account. How you sign in, and at which address, you change on the pages of your account, where you confirm that it is you. There you also delete it.',
    'given by them':
      'This person gave you your role in the last seven days, so you cannot change how they sign in yet, nor delete their account. Ask another operator.',
    'set by them':
      'This person set how you sign in, in the last two weeks, so you cannot change how they do yet, nor delete their account. Ask another operator.',
  },
};

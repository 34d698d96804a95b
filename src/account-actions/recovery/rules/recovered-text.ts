// What a person who recovered an account is told beside that.

export const LOST_CODES =
  'Your earlier recovery codes no longer work. You can get new ones on the Security page of your account.';
export const EARLIER_APP =
  'The code was one of your earlier authenticator app, which works again. The one that replaced it was removed.';
export const LOST_APP =
  'Your authenticator app was removed: it was renewed in the days before, and you showed a recovery code. You can set one up on the Security page of your account.';
export const leftText = (organization: string): string =>
  `It is no longer a member of ${organization}, which it joined in the days before: if you joined it yourself, ask for another invitation.`;

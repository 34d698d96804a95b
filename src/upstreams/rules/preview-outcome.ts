/** What a token of an upstream comes to: the person is signed in, connects their account, may create one, or none of these. */
export const PREVIEW_OUTCOMES = ['sign-in', 'connect', 'create', 'refused'] as const;
export type PreviewOutcome = (typeof PREVIEW_OUTCOMES)[number];

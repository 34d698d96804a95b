/**
 * Which client registered the resource that a grant, a code or a token is for: the same name may be another one's later. What was registered
 * before has no mark.
 */
export const resourceMarks = (): readonly string[] => [
  'ALTER TABLE client ADD COLUMN resource_mark TEXT',
  'ALTER TABLE client_token ADD COLUMN resources TEXT',
];

/** Who had unblocked a domain of apps before it was blocked again: what operators did to it in turn is judged together. */
export const domainRounds = (): readonly string[] => [
  'ALTER TABLE blocked_client_domain ADD COLUMN earlier TEXT',
  'ALTER TABLE unblocked_client_domain ADD COLUMN earlier TEXT',
];

/** Sample values for the documented examples. The tests replace them with real ones. */
export const sample = {
  userId: '333941263663255552',
  clientId: '333941264481144832',
  secretId: '333941264481144833',
  organizationId: '333941265303228416',
  groupId: '333941265303228417',
  apiId: '333941264481144834',
  assignmentId: '333941265303228418',
  invitationId: '333941266129506304',
  eventId: '1042',
  requestId: '6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11',
  clientSecret: 'tcs_zF6rB1Zk…',
  redirectUri: 'https://app.example.com/callback',
  code: 'Yk3vZ0f1n8Qw…',
  accessToken: 'eyJ0eXAiOiJh…',
  refreshToken: 'eyJ0eXAiOiJy…',
  idToken: 'eyJ0eXAiOiJK…',
  username: 'ada',
  /** A PNG file of one pixel, in base64. */
  picture: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOI1moDAAHvAQw/Jfy+AAAAAElFTkSuQmCC',
  moment: '2026-07-01T09:00:00.000Z',
  sessionId: 'qFxTOjoRkK6iuPBqLMvGWQ',
} as const;

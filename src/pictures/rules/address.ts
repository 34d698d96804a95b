/** The path of an app's picture within the service. It changes with the picture. */
export const appPicturePath = ({
  clientId,
  picture,
}: {
  readonly clientId: string;
  readonly picture: string;
}): string => `/app-pictures/${clientId}/${picture}`;

/** Where an app's picture is served, inside the service: the name changes with the picture. */
export const appPicturePath = ({
  clientId,
  picture,
}: {
  readonly clientId: string;
  readonly picture: string;
}): string => `/app-pictures/${clientId}/${picture}`;

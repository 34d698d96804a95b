/** Where an app's picture is served, inside the service: the name changes with the picture. */
export const appPicturePath = (clientId: string, picture: string): string => `/app-pictures/${clientId}/${picture}`;

/** The path of the admin API, below that of the base URL. */
export const ADMIN_PATH = '/api/v2/admin';

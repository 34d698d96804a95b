import type { UpstreamKind } from '../kind.ts';
import type { UpstreamKindName } from '../rules/presets.ts';
import { apple } from './apple.ts';
import { github } from './github.ts';
import { oidc } from './oidc.ts';

/** The kinds of providers, by their names. */
export const kinds: Readonly<Record<UpstreamKindName, UpstreamKind>> = { oidc, github, apple };

import { StoredCredential } from '../credentials/stored-credential.ts';
import { InlineText } from '../credentials/text-source.ts';
import type { ServerConfig } from '../kubeconfig/server-config.ts';

/** An API server at this address that is believed by its authority, for whoever shows nothing; `parts` are otherwise. */
export function serverConfigAt(url: string, authorityPem: string, parts: Partial<ServerConfig> = {}): ServerConfig {
  return {
    source: 'test',
    url: new URL(url),
    authority: new InlineText(authorityPem),
    isVerified: true,
    serverName: undefined,
    credential: new StoredCredential({}),
    headers: {},
    namespace: 'default',
    ...parts,
  };
}

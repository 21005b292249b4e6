import { writeFileSync } from 'node:fs';

/** Where the API server is, and as whom somebody speaks to it. */
export interface Access {
  server: string;
  caPem: string;
  token: string;
}

/** Writes a kubeconfig for this user, which only its owner may read; its token is in the file only. */
export function writeKubeconfig(path: string, user: string, { server, caPem, token }: Access): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'drill', cluster }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'drill', context: { cluster: 'drill', user } }],
    'current-context': 'drill',
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

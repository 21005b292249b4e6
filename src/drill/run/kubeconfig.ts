import { writeFileSync } from 'node:fs';

/** Where the API server is, and as whom somebody speaks to it. */
export interface Access {
  server: string;
  caPem: string;
  token: string;
}

/** The same, and the token in a file of its own, as a pod has it: it may be exchanged at any time. */
export function writeKubeconfigWithTokenFile(path: string, user: string, { token, ...access }: Access): string {
  const tokenFile = `${path}.token`;
  writeFileSync(tokenFile, token, { mode: 0o600 });
  return written(path, user, access, { tokenFile });
}

/** Writes a kubeconfig for this user, which only its owner may read; its token is in the file only. */
export function writeKubeconfig(path: string, user: string, { token, ...access }: Access): string {
  return written(path, user, access, { token });
}

function written(
  path: string,
  user: string,
  { server, caPem }: Omit<Access, 'token'>,
  credential: { token: string } | { tokenFile: string },
): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'drill', cluster }],
    users: [{ name: user, user: credential }],
    contexts: [{ name: 'drill', context: { cluster: 'drill', user } }],
    'current-context': 'drill',
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

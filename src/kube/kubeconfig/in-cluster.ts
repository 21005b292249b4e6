import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { StoredCredential } from '../credentials/stored-credential.ts';
import { FileText, type Reading } from '../credentials/text-source.ts';
import type { ServerConfig } from './server-config.ts';

/** Where Kubernetes mounts a pod's service account. */
export const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The API server as a pod sees it. The token is exchanged by the kubelet and read anew. */
export async function inClusterConfig(
  environment: Readonly<Record<string, string | undefined>>,
  reading: Reading,
  directory = SERVICE_ACCOUNT,
): Promise<ServerConfig> {
  const host = environment['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = environment['KUBERNETES_SERVICE_PORT'] ?? '443';
  const url = URL.parse(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`);
  if (host === '' || url === null) {
    throw new Error(`in-cluster configuration: KUBERNETES_SERVICE_HOST "${host}" and KUBERNETES_SERVICE_PORT "${port}" are no address`);
  }
  const token = new FileText(`${directory}/token`, 'service account token', reading);
  const authority = new FileText(`${directory}/ca.crt`, 'service account ca.crt', reading);
  try {
    await Promise.all([token.read(), authority.read()]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`in-cluster configuration: ${why}; does the pod set automountServiceAccountToken: false?`, { cause: error });
  }
  return {
    source: `service account in ${directory}`,
    isInCluster: true,
    url,
    authority,
    isVerified: true,
    serverName: undefined,
    credential: new StoredCredential({ token }),
    headers: {},
    namespace: await namespaceOf(directory),
    warnings: reading.warnings,
  };
}

function namespaceOf(directory: string): Promise<string> {
  return readFile(`${directory}/namespace`, 'utf8').then(
    (text) => text.trim() || 'default',
    () => 'default',
  );
}

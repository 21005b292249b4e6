import type { CredentialSource } from '../credentials/credential-source.ts';
import type { Reading, TextSource } from '../credentials/text-source.ts';

/** How to reach one API server, and as whom. */
export interface ServerConfig {
  /** Where this comes from: a file and context, or the pod's service account. */
  source: string;
  /** The pod's service account. */
  isInCluster?: true;
  /** May have a path: a server behind a proxy. */
  url: URL;
  /** PEM of the authorities to trust; undefined: those of the system. */
  authority: TextSource | undefined;
  isVerified: boolean;
  /** Name to verify the certificate against instead of the host. */
  serverName: string | undefined;
  credential: CredentialSource;
  /** Impersonate-* headers. */
  headers: Readonly<Record<string, string | string[]>>;
  /** Default namespace of the context. */
  namespace: string;
  /** Told of credentials that were exchanged and cannot be used. */
  warnings?: Reading['warnings'];
}

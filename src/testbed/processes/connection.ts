import { InlineText } from '../../kube/credentials/text-source.ts';
import { StoredCredential } from '../../kube/credentials/stored-credential.ts';
import { HttpsTransport } from '../../kube/https-transport.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import type { ServerConfiguration } from './process-shell.ts';

/** The wire from a drill process to the drill's API server. */
export function connect({ server, caPem, token }: Omit<ServerConfiguration, 'trace'> & { trace?: string }): ApiTransport {
  return new HttpsTransport({
    server: {
      source: 'the configuration of this drill process',
      url: new URL(server),
      authority: new InlineText(caPem),
      isVerified: true,
      serverName: undefined,
      credential: new StoredCredential({ token: new InlineText(token) }),
      headers: {},
      namespace: 'default',
    },
    clock: new SystemClock(),
    userAgent: 'nodefence-drill',
  });
}

import { InlineText } from '../src/kube/credentials/text-source.ts';
import { StoredCredential } from '../src/kube/credentials/stored-credential.ts';
import { HttpsTransport } from '../src/kube/https-transport.ts';
import { SystemClock } from '../src/runtime/system-clock.ts';

/** An API server as the controller that ships reaches it. */
export function connect({ server, caPem, token }: { server: string; caPem: string; token: string }): HttpsTransport {
  return new HttpsTransport({
    server: {
      source: 'the configuration of this test',
      url: new URL(server),
      authority: new InlineText(caPem),
      isVerified: true,
      serverName: undefined,
      credential: new StoredCredential({ token: new InlineText(token) }),
      headers: {},
      namespace: 'default',
    },
    clock: new SystemClock(),
    userAgent: 'nodefence-test',
  });
}

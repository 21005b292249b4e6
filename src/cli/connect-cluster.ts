import { ApiClient } from '../kube/client.ts';
import { HttpsTransport } from '../kube/https-transport.ts';
import { serverConfigOfText } from '../kube/kubeconfig/kubeconfig.ts';
import type { ConnectedCluster } from '../ports/agents.ts';
import type { Clock } from '../ports/clock.ts';
import { VERSION } from './version.ts';

/** A cluster by the text of a kubeconfig, as an agent's parameter holds it. Nothing is sent yet; rejects with what is wrong in the text, never with a value of it. */
export async function connectCluster(kubeconfig: string, clock: Clock): Promise<ConnectedCluster> {
  const { transport } = await reachCluster(kubeconfig, '(parameter)', clock);
  return Object.assign(new ApiClient({ transport, isForeign: true }), { close: () => transport.close() });
}

/** The same by the wire alone, for watches. `source` is for messages. */
export async function reachCluster(kubeconfig: string, source: string, clock: Clock): Promise<{ transport: HttpsTransport; close: () => void }> {
  const server = await serverConfigOfText(kubeconfig, source, clock);
  const transport = new HttpsTransport({ server, clock, userAgent: `nodefence/${VERSION}` });
  return { transport, close: () => transport.close() };
}

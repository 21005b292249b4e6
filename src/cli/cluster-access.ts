import { Option } from 'commander';
import type { Command } from 'commander';
import { ApiClient } from '../kube/client.ts';
import { HttpsTransport } from '../kube/https-transport.ts';
import { loadServerConfig } from '../kube/kubeconfig/kubeconfig.ts';
import { NAMESPACE } from '../manifests/access.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Random } from '../ports/random.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import { SystemRandom } from '../runtime/system-random.ts';
import { VERSION } from './version.ts';

/** Which cluster, and where nodefence lives in it. */
export interface ClusterFlags {
  kubeconfig?: string;
  context?: string;
  fenceNamespace: string;
}

/** The API server as a command reaches it, with the caller's own rights. */
export interface ClusterAccess {
  transport: ApiTransport;
  cluster: Cluster;
  clock: Clock;
  random: Random;
  /** Of ConfigMaps, Secrets and the leader Lease. */
  namespace: string;
  /** `HOST:PORT`, for people. */
  server: string;
  close(): void;
}

/** A command of a person waits longer than the controller may. */
const DEADLINE_MS = 20_000;

/** `--kubeconfig`, `--context`, `--fence-namespace`, each with its NODEFENCE_ variable. */
export function withClusterOptions(command: Command): Command {
  const option = (flags: string, variable: string, description: string): Option => new Option(flags, description).env(`NODEFENCE_${variable}`);
  return command
    .addOption(option('--kubeconfig <path>', 'KUBECONFIG', 'kubeconfig file; default: KUBECONFIG, the service account of the pod, or ~/.kube/config'))
    .addOption(option('--context <name>', 'CONTEXT', 'context of the kubeconfig; default: the current one'))
    .addOption(
      option('-n, --fence-namespace <name>', 'FENCE_NAMESPACE', 'namespace of the configuration and of the leader Lease').default(NAMESPACE),
    );
}

/** Finds the API server as kubectl does; nothing is sent yet. Rejects with what is wrong in the kubeconfig, and where. */
export async function accessCluster(flags: ClusterFlags): Promise<ClusterAccess> {
  const clock = new SystemClock();
  const server = await loadServerConfig({
    environment: process.env,
    clock,
    ...((flags.kubeconfig ?? '') === '' ? {} : { path: flags.kubeconfig }),
    ...((flags.context ?? '') === '' ? {} : { context: flags.context }),
  });
  const transport = new HttpsTransport({ server, clock, userAgent: `nodefence/${VERSION}` });
  return {
    transport,
    cluster: new ApiClient({ transport, deadlineMs: DEADLINE_MS }),
    clock,
    random: new SystemRandom(),
    namespace: flags.fenceNamespace,
    server: server.url.host,
    close: () => transport.close(),
  };
}

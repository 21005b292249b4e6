import { HttpsTransport } from '../../kube/https-transport.ts';
import { loadServerConfig } from '../../kube/kubeconfig/kubeconfig.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';
import { VERSION } from '../version.ts';
import { machineFlagsProblem } from './machine-flags.ts';
import type { MachineFlags } from './machine-flags.ts';

/**
 * The API server of the Machines where it is not that of the Nodes (Gardener: the seed), its credentials read anew as they change; `undefined`: it is the same.
 * Nothing is sent yet. Rejects with what is wrong in the flags or the kubeconfig.
 */
export async function machinesElsewhere(flags: MachineFlags, clock: Clock, logger?: Logger): Promise<ApiTransport | undefined> {
  const problem = machineFlagsProblem(flags);
  if (problem !== undefined) throw new Error(problem);
  const { machinesKubeconfig: path = '' } = flags;
  if (path === '') return undefined;
  const server = await loadServerConfig({ environment: process.env, clock, path, ...(logger === undefined ? {} : { logger }) });
  return new HttpsTransport({ server, clock, userAgent: `nodefence/${VERSION}` });
}

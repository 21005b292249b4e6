import { Option } from 'commander';
import type { Command } from 'commander';
import { accessCluster } from '../cluster-access.ts';
import type { ClusterAccess } from '../cluster-access.ts';

/** Where the Machines are. */
export interface MachineFlags {
  machinesKubeconfig?: string;
  machinesNamespace?: string;
}

/** The Machines' API server, and how to let it go. */
export interface MachineReach extends Pick<ClusterAccess, 'transport' | 'cluster' | 'server'> {
  namespace: string | undefined;
  close(): void;
}

/** `--machines-kubeconfig`, `--machines-namespace`, each with its NODEFENCE_ variable. */
export function withMachineOptions(command: Command): Command {
  const options = [
    new Option(
      '--machines-kubeconfig <path>',
      'kubeconfig of the cluster with the Machines, if it is another one (Gardener: the seed); requires --machines-namespace',
    ).env('NODEFENCE_MACHINES_KUBECONFIG'),
    new Option('--machines-namespace <name>', 'namespace of the Machines; default: all').env('NODEFENCE_MACHINES_NAMESPACE'),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

/** What is wrong with the flags, in words: another cluster has the Machines of many clusters. */
export function machineFlagsProblem({ machinesKubeconfig = '', machinesNamespace = '' }: MachineFlags): string | undefined {
  if (machinesKubeconfig === '' || machinesNamespace !== '') return undefined;
  return '--machines-kubeconfig requires --machines-namespace: other namespaces there may hold the Machines of other clusters';
}

/** The API server of the Machines as a command reaches it: that of the Nodes, or another. Rejects with what is wrong in the flags or the kubeconfig. */
export async function reachMachines(flags: MachineFlags, access: ClusterAccess): Promise<MachineReach> {
  const problem = machineFlagsProblem(flags);
  if (problem !== undefined) throw new Error(problem);
  const { machinesKubeconfig: kubeconfig = '', machinesNamespace = '' } = flags;
  const namespace = machinesNamespace === '' ? undefined : machinesNamespace;
  if (kubeconfig === '') return { ...pick(access), namespace, close: () => undefined };
  const other = await accessCluster({ kubeconfig, fenceNamespace: access.namespace });
  return { ...pick(other), namespace, close: () => other.close() };
}

function pick({ transport, cluster, server }: ClusterAccess): Pick<ClusterAccess, 'transport' | 'cluster' | 'server'> {
  return { transport, cluster, server };
}

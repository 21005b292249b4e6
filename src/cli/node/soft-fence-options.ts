import { InvalidArgumentError } from 'commander';
import type { Option } from 'commander';
import type { NodeDaemonRun } from '../../node/shell/run.ts';

export interface SoftFenceFlags {
  softFence: boolean;
  kubeletUnit?: string;
  containerRuntimeUnit?: string;
}

export function softFenceOptions(option: (flags: string, variable: string, description: string) => Option): Option[] {
  return [
    option('--soft-fence', 'SOFT_FENCE', 'do what controllers order: restart the kubelet or the container runtime, reboot (by systemd)').default(
      false,
    ),
    option('--kubelet-unit <unit>', 'KUBELET_UNIT', 'with --soft-fence: unit of the kubelet; default: the first of the usual ones').argParser(unit),
    option(
      '--container-runtime-unit <unit>',
      'CONTAINER_RUNTIME_UNIT',
      'with --soft-fence: unit of the container runtime; default: the first of the usual ones',
    ).argParser(unit),
  ];
}

export function softFenceOf({ softFence, kubeletUnit, containerRuntimeUnit }: SoftFenceFlags): Pick<NodeDaemonRun, 'softFence'> {
  if (!softFence) return {};
  return {
    softFence: {
      ...(kubeletUnit === undefined ? {} : { kubeletUnit }),
      ...(containerRuntimeUnit === undefined ? {} : { containerRuntimeUnit }),
    },
  };
}

/** Never an option of systemctl. */
function unit(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9:_.@-]{0,200}\.service$/u.test(text)) return text;
  throw new InvalidArgumentError('must be the name of a service, such as kubelet.service.');
}

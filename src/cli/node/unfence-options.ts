import { InvalidArgumentError } from 'commander';
import type { Command, Option } from 'commander';
import { DEVICES_MAX, isDevicePath, isRegistrationKey } from '../../domain/scsi-registration.ts';
import type { NodeDaemonRun } from '../../node/shell/run.ts';

export interface UnfenceFlags {
  unfenceDevice: string[];
  unfenceKey?: string;
  unfenceMultipath: boolean;
  unfenceProgram?: string;
}

export function unfenceOptions(option: (flags: string, variable: string, description: string) => Option): Option[] {
  return [
    option('--unfence-device <paths>', 'UNFENCE_DEVICE', 'shared devices that this node is registered on again after a fence, in a new boot')
      .argParser(devices)
      .default([], 'none'),
    option('--unfence-key <key>', 'UNFENCE_KEY', 'its registration key: the one that agent scsi takes away').argParser(key),
    option('--unfence-multipath', 'UNFENCE_MULTIPATH', 'they are multipath maps: mpathpersist instead of sg_persist').default(false),
    option('--unfence-program <path>', 'UNFENCE_PROGRAM', 'where that program is').argParser(program),
  ];
}

/** Undefined: it puts nothing back. */
export function unfenceOf(
  { unfenceDevice: all, unfenceKey, unfenceMultipath: isMultipath, unfenceProgram }: UnfenceFlags,
  command: Pick<Command, 'error'>,
): Pick<NodeDaemonRun, 'unfence'> {
  if (all.length === 0 && unfenceKey === undefined) return {};
  if (all.length === 0 || unfenceKey === undefined) return command.error('error: --unfence-device and --unfence-key go together');
  const named = unfenceProgram === undefined ? {} : { program: unfenceProgram };
  return { unfence: { devices: all, key: unfenceKey, isMultipath, ...named } };
}

function devices(text: string, before: readonly string[] = []): string[] {
  const all = [...before, ...text.split(',').filter((path) => path !== '')];
  if (!all.every(isDevicePath)) throw new InvalidArgumentError('must be devices such as /dev/disk/by-id/wwn-0x5000c500.');
  if (all.length > DEVICES_MAX) throw new InvalidArgumentError(`must be at most ${DEVICES_MAX} devices.`);
  return all;
}

function key(text: string): string {
  if (!isRegistrationKey(text)) throw new InvalidArgumentError('must be a registration key, up to 16 hexadecimal digits, not zero.');
  return text;
}

function program(text: string): string {
  if (!/^\/[A-Za-z0-9_./-]+$/.test(text)) throw new InvalidArgumentError('must be the path of a program.');
  return text;
}

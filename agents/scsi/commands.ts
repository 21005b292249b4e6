import { persistIn } from '../../src/domain/scsi-registration.ts';
import type { ScsiSettings } from './parameters.ts';

/** What the agent of ClusterLabs is told on its standard input; `fence_mpath` calls the key a plug. */
export function fenceInput({ devices, key, isMultipath }: Pick<ScsiSettings, 'devices' | 'key' | 'isMultipath'>): string {
  const lines = ['action=off', `devices=${devices.join(',')}`, `${isMultipath ? 'plug' : 'key'}=${key}`];
  return `${lines.join('\n')}\n`;
}

/** Reads the registered keys (`keys`), or the reservation, of one device; changes nothing. */
export function persistArgv({ before, persistPath, isMultipath }: ScsiSettings, device: string, what: 'keys' | 'reservation'): string[] {
  return [...before, persistPath, ...persistIn(device, what, isMultipath)];
}

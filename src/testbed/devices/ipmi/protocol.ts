import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What the BMC of the drill speaks: Redfish; IPMI by our own emulator; IPMI by Debian's `ipmi_sim` (package openipmi). */
export const BMC_PROTOCOLS = ['redfish', 'ipmi', 'ipmi-sim'] as const;
export type BmcProtocol = (typeof BMC_PROTOCOLS)[number];

/** The BMC for this agent: for `ipmi` a server that nobody here wrote, where the machine has one, else our emulator. */
export function bmcProtocolFor(agent: 'redfish' | 'ipmi', path: string = process.env['PATH'] ?? ''): BmcProtocol {
  if (agent === 'redfish') return 'redfish';
  return path.split(delimiter).some((folder) => isExecutable(join(folder, 'ipmi_sim'))) ? 'ipmi-sim' : 'ipmi';
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

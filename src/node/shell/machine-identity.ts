import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './file-errors.ts';

/** What the kubelet takes for the machine's UUID, in its order: the attestation must name the machine as the Node does. */
const SYSTEM_UUID = ['sys/class/dmi/id/product_uuid', 'proc/device-tree/system-id', 'proc/device-tree/vm,uuid', 'etc/machine-id'];

/** Throws where the machine does not say who it is. */
export function machineIdentity(root: string): { bootID: string; systemUUID: string } {
  const bootID = textAt(join(root, 'proc/sys/kernel/random/boot_id'));
  const systemUUID = SYSTEM_UUID.map((path) => textAt(join(root, path))).find((text) => text !== undefined);
  if (bootID === undefined) throw new Error('the machine does not say its boot ID: the daemon must see /proc of it');
  if (systemUUID === undefined)
    throw new Error(
      'the machine does not say its UUID: its firmware has none, and there is no /etc/machine-id; a pod is shown that of its node by part machine-id of config/node-daemonset-parts',
    );
  return { bootID: bootID.toLowerCase(), systemUUID };
}

/** Undefined: absent or empty. */
function textAt(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').replaceAll('\0', '').trim();
    return text === '' ? undefined : text;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

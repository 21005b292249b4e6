import { bytesOf, codeOf } from './reading.ts';

/** Where the firmware says that this machine reaches its own Redfish service. */
export interface RedfishHostInterface {
  address: string;
  port: number;
  /** Only this machine reaches it: it is no address for a controller. */
  isLocal: boolean;
}

/** A machine has one or two. */
const ENTRIES_MAX = 4;
/** The length of a structure is one byte, and its strings come after it. */
const BYTES_MAX = 4_096;
/** SMBIOS 3.2 (DSP0134) 7.43: Management Controller Host Interface. */
const STRUCTURE_TYPE = 42;
const NETWORK_INTERFACE = 0x40;
const REDFISH_OVER_IP = 0x04;
/** Redfish Host Interface 1.3 (DSP0270), table of the Redfish over IP protocol: from the beginning of its data. */
const SERVICE = { format: 51, address: 52, port: 84, end: 86 } as const;
const LENGTH_OF: Readonly<Record<number, number>> = { 1: 4, 2: 16 };

/** The first that the firmware describes with an address. Undefined: none, or only root may read it: IPMI is asked all the same. Rejects where it is there and cannot be read. */
export async function redfishHostInterface(root: string): Promise<RedfishHostInterface | undefined> {
  for (let index = 0; index < ENTRIES_MAX; index += 1) {
    const bytes = await bytesOf(root, `sys/firmware/dmi/entries/${STRUCTURE_TYPE}-${index}/raw`, BYTES_MAX).catch(unlessForbidden);
    if (bytes === undefined) return undefined;
    const found = hostInterfaceIn(bytes);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unlessForbidden(error: unknown): undefined {
  if (codeOf(error) !== 'EACCES' && codeOf(error) !== 'EPERM') throw error;
}

/** Of one structure of SMBIOS type 42; undefined for whatever is not whole. */
export function hostInterfaceIn(bytes: Uint8Array): RedfishHostInterface | undefined {
  const [type, length = 0] = bytes;
  if (type !== STRUCTURE_TYPE || bytes.length < length || bytes[4] !== NETWORK_INTERFACE) return undefined;
  const structure = bytes.subarray(0, length);
  const countAt = 6 + (structure[5] ?? 0);
  let at = countAt + 1;
  for (let left = structure[countAt] ?? 0; left > 0; left -= 1) {
    const [protocol, size = 0] = structure.subarray(at, at + 2);
    const data = structure.subarray(at + 2, at + 2 + size);
    if (data.length < size) return undefined;
    const found = protocol === REDFISH_OVER_IP ? serviceIn(data) : undefined;
    if (found !== undefined) return found;
    at += 2 + size;
  }
  return undefined;
}

function serviceIn(data: Uint8Array): RedfishHostInterface | undefined {
  if (data.length < SERVICE.end) return undefined;
  const length = LENGTH_OF[data[SERVICE.format] ?? 0];
  if (length === undefined) return undefined;
  const bytes = data.subarray(SERVICE.address, SERVICE.address + length);
  if (bytes.every((byte) => byte === 0)) return undefined;
  const port = (data[SERVICE.port] ?? 0) + 256 * (data[SERVICE.port + 1] ?? 0);
  return { address: length === 4 ? bytes.join('.') : ipv6(bytes), port: port === 0 ? 443 : port, isLocal: isLocal(bytes) };
}

/** Loopback and link-local: 127.0.0.0/8, 169.254.0.0/16, ::1, fe80::/10. */
function isLocal(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  if (bytes.length === 4) return first === 127 || (first === 169 && second === 254);
  return (first === 0xfe && (second & 0xc0) === 0x80) || (bytes.subarray(0, 15).every((byte) => byte === 0) && bytes[15] === 1);
}

/** As RFC 5952 writes it. */
function ipv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0)).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** What a device says of who is registered on it. Sources: sg3_utils (sg_persist), multipath-tools (mpathpersist), SPC-4. */
export interface Registrations {
  /** Without `0x` and leading zeros, lower case. */
  keys: readonly string[];
}

/** A key as it is compared: without `0x` and leading zeros, lower case. */
export function plainKey(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^0x/, '')
    .replace(/^0+(?=.)/, '');
}

/** Zero is no key: registering it takes a registration away. */
export function isRegistrationKey(text: string): boolean {
  return /^(0x)?[0-9a-f]{1,16}$/i.test(text) && plainKey(text) !== '0';
}

/** Names of devices that may be handed to a program. */
export function isDevicePath(text: string): boolean {
  return /^\/dev\/[A-Za-z0-9_./:-]{1,200}$/.test(text) && !text.includes('..');
}

export const DEVICES_MAX = 16;

/** The registered keys, or undefined where the list is not whole: as many as its head says have to follow, and the last line has to end. */
export function parseKeys(text: string): Registrations | undefined {
  if (!text.endsWith('\n')) return undefined;
  const lines = text.split('\n');
  if (lines.some((line) => /\bthere are no registered reservation keys\b/i.test(line))) return { keys: [] };
  const at = lines.findIndex((line) => /\b\d+ registered reservation keys?\b/.test(line));
  const count = Number(/\b(\d+) registered reservation keys?\b/.exec(lines[at] ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(count)) return undefined;
  const keys = lines.slice(at + 1).flatMap((line) => /^\s+0x([0-9a-f]{1,16})\s*$/i.exec(line)?.[1] ?? []);
  return keys.length === count ? { keys: keys.map(plainKey) } : undefined;
}

/** What `sg_persist`, or `mpathpersist`, is told to read: the registered keys, or the reservation. Changes nothing. */
export function persistIn(device: string, what: 'keys' | 'reservation', isMultipath: boolean): string[] {
  const option = what === 'keys' ? '-k' : '-r';
  return [...(isMultipath ? ['-i', option] : ['-n', '-i', option]), '-d', device];
}

/** What it is told to register this host's key, whatever was registered before: REGISTER AND IGNORE EXISTING KEY. It reserves nothing. */
export function persistRegister(device: string, key: string, isMultipath: boolean): string[] {
  const out = isMultipath ? ['-o'] : ['-n', '-o'];
  return [...out, '-I', '-S', `0x${plainKey(key)}`, '-d', device];
}

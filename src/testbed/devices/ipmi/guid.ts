/**
 * A machine's UUID as `Get System GUID` sends it: all sixteen bytes turned round, as section 20.8 of IPMI 2.0 has it. `ipmitool mc guid`
 * (auto and ipmi) then shows the same UUID again.
 */
export function guidBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  if (bytes.length !== 16) throw new Error(`${uuid} is no UUID: give 32 hexadecimal digits with dashes`);
  return bytes.reverse();
}

/** The UUID behind sixteen bytes of `Get System GUID`. */
export function uuidOf(guid: Buffer): string {
  const hex = Buffer.from(guid).reverse().toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

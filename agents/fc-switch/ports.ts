const BROCADE = /^(?:\d{1,2}\/)?\d{1,3}$/;
const MDS = /^(?:fc|vfc|ext|port-channel|san-port-channel) ?\d{1,4}(?:\/\d{1,3}){0,2}$/;

/** What is wrong with the name of a port; `undefined`: nothing. */
export function brocadePort(plug: string): string | undefined {
  return BROCADE.test(plug) ? undefined : `plug ${JSON.stringify(plug)} is no port of a Brocade switch, such as 7 or 0/7`;
}

export function mdsPort(plug: string): string | undefined {
  return MDS.test(plug) ? undefined : `plug ${JSON.stringify(plug)} is no port of an MDS switch, such as fc1/7`;
}

/** Interfaces of the switch itself, by which no node is reached: closing one isolates nobody, cuts the switch off, or takes an overlay away from all. */
const OWN_PORTS: readonly { name: RegExp; what: string }[] = [
  { name: /^nve\s?\d/i, what: 'the tunnel end of an overlay (VXLAN)' },
  { name: /^nu(?:ll?)?\s?\d/i, what: 'where the switch drops traffic' },
  { name: /^(?:mgmt|ma(?:n(?:a(?:g(?:e(?:m(?:e(?:nt?)?)?)?)?)?)?)?|mgmteth|management)\s?\d/i, what: 'its out-of-band management' },
  { name: /^(?:fxp|em|me|bme|vme|jmgmt)\d*(?:\.\d+)?$|^re\d+:mgmt-\d/i, what: 'its out-of-band management' },
  { name: /^(?:eth0|oob\d*|out-of-band\d*)$/i, what: 'its out-of-band management' },
];

/** Why this port is never switched, in words; undefined where it may be a node's. */
export function ownPortProblem(name: string): string | undefined {
  const own = OWN_PORTS.find((each) => each.name.test(name));
  return own === undefined
    ? undefined
    : `${name} is an interface of the switch itself (${own.what}): it is never switched; name the port of the node`;
}

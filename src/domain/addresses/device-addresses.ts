import { contains, encloses, parseAddress, parseNetwork } from './network.ts';
import type { Network } from './network.ts';

/** Where no device is, and a request of ours could do harm. */
const SPECIAL: readonly { what: string; networks: readonly Network[] }[] = [
  { what: 'no address of a device', networks: networks('0.0.0.0/8', '::/128', '224.0.0.0/4', '255.255.255.255/32', 'ff00::/8') },
  { what: 'the machine of the controller itself', networks: networks('127.0.0.0/8', '::1/128') },
  {
    what: 'where clouds serve the credentials of this machine',
    networks: networks(
      '169.254.0.0/16',
      // Azure, Alibaba, Oracle; by IPv6 EC2, EKS, Google, Oracle, OpenStack.
      ...['168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32'],
      ...['fd00:ec2::254/128', 'fd00:ec2::23/128', 'fd20:ce::254/128', 'fd00:c1::a9fe:a9fe/128', 'fe80::a9fe:a9fe/128'],
    ),
  },
];

/** Whose address it is: `device`, as the configuration names one; `cloud`, a public one, which has its own names. */
export type AddressOwner = 'device' | 'cloud';

/**
 * Which addresses devices may have: a configuration names them, and whoever writes it must not make the controller talk to its own machine, or send logins
 * anywhere. Asked with what a name resolved to, right before the connection is made: a name may resolve to something else each time.
 */
export class DeviceAddresses {
  readonly #listed: readonly Network[];

  /** `listed`: empty, every address but special ones. */
  constructor(listed: readonly Network[] = []) {
    this.#listed = listed;
  }

  /** Why nothing is sent there; undefined: it may be. */
  refusal(text: string, owner: AddressOwner): string | undefined {
    const address = parseAddress(text);
    if (address === undefined) return `${text.slice(0, 60)} is no address`;
    const listing = this.#listed.filter((network) => contains(network, address));
    for (const { what, networks: special } of SPECIAL) {
      const around = special.find((network) => contains(network, address));
      // 0.0.0.0/0 means every device, not the controller's own machine: that has to be named by itself.
      if (around !== undefined && !listing.some((network) => encloses(around, network)))
        return `${text} is ${what}: nothing is sent there, unless --device-addresses of the controller names ${around.text} or a part of it`;
    }
    if (owner === 'cloud' || this.#listed.length === 0 || listing.length > 0) return undefined;
    return `${text} is in no network of --device-addresses of the controller (${this.toString()}): nothing is sent there`;
  }

  toString(): string {
    return this.#listed.map(({ text }) => text).join(',');
  }
}

/** Networks separated by commas or blanks, or what is wrong in words. */
export function parseDeviceAddresses(text: string): DeviceAddresses | string {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  const found: Network[] = [];
  for (const word of words) {
    const network = parseNetwork(word);
    if (network === undefined) return `${word.slice(0, 60)} is no address or network such as 10.1.0.0/16 or fd00:1::/64 (names are not taken)`;
    found.push(network);
  }
  return new DeviceAddresses(found);
}

function networks(...texts: readonly string[]): Network[] {
  return texts.flatMap((text) => parseNetwork(text) ?? []);
}

import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const RULE = 'src/domain/addresses/device-addresses.ts';
const RULE_TEST = 'src/domain/addresses/device-addresses.test.ts';
const CALLED = 'test/security/device-addresses.test.ts';

/** Ways in which a ConfigMap would make the controller call what is no device. */
export const ADDRESS_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'address behind a name',
    defect: 'a name that resolves to the controller’s own machine is called',
    file: 'agents/shared/address/address-check.ts',
    edits: [
      [
        'found.filter(({ address }) => check(address) === undefined)',
        'isIP(host) === 0 ? [...found] : found.filter(({ address }) => check(address) === undefined)',
      ],
    ],
    killedBy: byTest(CALLED, 'is not called by redfish (localhost … root planted)'),
  },
  {
    name: 'address of a client for the web',
    defect: 'the client of clouds and switches looks at no address',
    file: 'agents/shared/web/trusted-socket.ts',
    edits: [
      ['{ clock, check = ANY_ADDRESS }', '{ clock }'],
      ['opened(place, trust, check)', 'opened(place, trust, ANY_ADDRESS)'],
    ],
    killedBy: byTest(CALLED, 'is not called by proxmox (127.0.0.1 … root@pam planted)'),
  },
  {
    name: 'everywhere means this machine too',
    defect: '--device-addresses 0.0.0.0/0 opens the machine of the controller and the credentials of its cloud',
    file: RULE,
    edits: [['!listing.some((network) => encloses(around, network))', 'listing.length === 0']],
    killedBy: byTest(RULE_TEST, 'is special until a network within that special one names it'),
  },
  {
    name: 'address inside an address',
    defect: 'an IPv4 address that is written as IPv6 is another one',
    file: 'src/domain/addresses/network.ts',
    edits: [['EMBEDDING.has(value >> 32n)', 'EMBEDDING.has(value)']],
    killedBy: byTest(RULE_TEST, 'is not ::ffff:169.254.169.254, however it is spelled, for a device or a cloud'),
  },
];

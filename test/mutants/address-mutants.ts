import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const RULE = 'src/domain/addresses/device-addresses.ts';
const RULE_TEST = 'src/domain/addresses/device-addresses.test.ts';
const FILES = 'src/cli/secrets/secret-folder.ts';
const FILES_TEST = 'src/cli/secrets/stores.test.ts';
const CALLED = 'test/security/device-addresses.test.ts';

/** Ways in which a ConfigMap would make the controller call what is no device, or read what is no login. */
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
    killedBy: byTest(CALLED, 'is not called by redfish at localhost'),
  },
  {
    name: 'address of a client for the web',
    defect: 'the client of clouds and switches looks at no address',
    file: 'agents/shared/web/trusted-socket.ts',
    edits: [
      ['{ clock, check = ANY_ADDRESS }', '{ clock }'],
      ['opened(place, trust, check)', 'opened(place, trust, ANY_ADDRESS)'],
    ],
    killedBy: byTest(CALLED, 'is not called by proxmox at 127.0.0.1'),
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
  {
    name: 'login behind a link',
    defect: 'a link in the folder of logins leads to any file of the machine',
    file: FILES,
    edits: [['if (!real.startsWith(root.endsWith(sep) ? root : root + sep))', "if (real === '')"]],
    killedBy: byTest(FILES_TEST, 'is not behind a link that leads out of the folder, also not one key of it'),
  },
  {
    name: 'login by any path',
    defect: 'secret_file= names any file of the controller’s machine',
    file: FILES,
    edits: [
      [
        'return parts.length <= PARTS_MAX && parts.every((part) => SECRET_KEY.test(part));',
        'return parts.length <= PARTS_MAX && parts.every((part) => SECRET_KEY.test(part) || part !== null);',
      ],
    ],
    killedBy: byTest(FILES_TEST, 'is never ../outside'),
  },
  {
    name: 'words of a program of logins',
    defect: 'what a program of logins says when it fails, which may be the login, stands in the fence',
    file: 'src/cli/secrets/stores.ts',
    edits: [['run it by hand`', 'run it by hand ${result.stdout}`']],
    killedBy: byTest(FILES_TEST, 'is none where it fails, and what it said is not repeated'),
  },
  {
    name: 'memory in dumps',
    defect: 'a core dump holds the memory in which passwords stand',
    file: 'src/runtime/core-dumps.ts',
    edits: [["const NOTHING = '0';", "const NOTHING = '0x33';"]],
    killedBy: byTest('src/runtime/core-dumps.test.ts', 'holds none because the kernel is told so by a mask of nothing'),
  },
  {
    name: 'passwords of SNMP stay',
    defect: 'the password of a session of SNMP 3 that is over stays in the memory of the library',
    file: 'agents/shared/snmp/link.ts',
    edits: [['    forgetKeys(this.#settings);\n', '']],
    killedBy: byTest('agents/shared/snmp/link.test.ts', 'leaves no password of its own in memory when it is closed, and those of others alone'),
  },
  {
    name: 'program by a label',
    defect: 'a node chooses by a label of its own which program or file of the controller’s machine is taken',
    file: 'src/config/merged-method.ts',
    edits: [['OF_THIS_MACHINE.has(name) ?', 'name === undefined ?']],
    killedBy: byTest('src/config/secret-elsewhere.test.ts', 'is an error where it is written as'),
  },
];

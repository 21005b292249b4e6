import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const READ = 'agents/openstack/read.test.ts';
const SET = 'agents/openstack/set.test.ts';
const CREDENTIALS = 'agents/openstack/credentials.test.ts';
const SERVICE = 'agents/openstack/compute-service/agent.test.ts';
const WHILE_OFF = 'src/domain/while-off.test.ts';
const ACCOUNT = 'agents/openstack/account.ts';
const ACTIONS = 'agents/openstack/actions.ts';
const NOVA = 'agents/openstack/nova.ts';
const PROOF = 'agents/openstack/proof.ts';
const SERVER = 'agents/openstack/server.ts';

/** Defects of the agent openstack. */
export const OPENSTACK_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'openstack silent hypervisor',
    defect: 'the state of a server whose hypervisor does not answer is believed',
    file: SERVER,
    edits: [
      ["new Set(['UNKNOWN', 'DOWN'])", "new Set(['UNREACHABLE'])"],
      ["hostStatus !== 'UP' && hostStatus !== 'MAINTENANCE'", "hostStatus === ''"],
    ],
    killedBy: byTest(READ, 'that is said to be on is unknown while its host_status is DOWN'),
  },
  {
    name: 'openstack task ignored',
    defect: 'a server that is shut off while it is being started is off',
    file: SERVER,
    edits: [["if (taskState !== null) return { state: 'pending' };", "if (taskState !== null && status === 'ACTIVE') return { state: 'pending' };"]],
    killedBy: byTest(READ, 'that says SHUTOFF with a task under way, such as a start is not off'),
  },
  {
    name: 'openstack power state ignored',
    defect: 'a server of status SHUTOFF whose guest runs is off',
    file: SERVER,
    edits: [["vmState !== 'stopped' || powerState !== SHUTDOWN", "vmState !== 'stopped'"]],
    killedBy: byTest(READ, 'that says SHUTOFF with a power state that runs is not off'),
  },
  {
    name: 'openstack failed stop',
    defect: 'a stop that its hypervisor recorded as failed proves that the server is off',
    file: ACTIONS,
    edits: [["stops.find(({ result }) => result !== 'Success')", 'stops.find(({ result }) => result === undefined)']],
    killedBy: byTest(READ, 'is not off by a stop that failed'),
  },
  {
    name: 'openstack unfinished stop',
    defect: 'a stop that no hypervisor has recorded yet proves that the server is off',
    file: ACTIONS,
    edits: [['stops.length === 0 || stops.some', 'stops.some']],
    killedBy: byTest(READ, 'is pending until its hypervisor has said that the stop is done'),
  },
  {
    name: 'openstack stop elsewhere',
    defect: 'the stop of a former hypervisor proves that the server is off on the one that has it now',
    file: ACTIONS,
    edits: [['return isElsewhere ?', 'return isElsewhere && hostId === undefined ?']],
    killedBy: byTest(READ, 'is not off by a stop of another hypervisor than the one that has it now'),
  },
  {
    name: 'openstack older stop',
    defect: 'a stop proves that a server is off that was started since',
    file: ACTIONS,
    edits: [['actions.find(({ action }) => !NEUTRAL.has(action))', "actions.find(({ action }) => action === 'stop')"]],
    killedBy: byTest(READ, 'is not off where the last thing done to it is no stop'),
  },
  {
    name: 'openstack evacuated',
    defect: 'a server that was evacuated from a hypervisor that may run it on is off',
    file: PROOF,
    edits: [
      [
        'if (freshEvacuation(actions, this.#nova.time.nowMs) !== undefined)',
        'if (freshEvacuation(actions, this.#nova.time.nowMs) !== undefined && !isUp)',
      ],
    ],
    killedBy: byTest(READ, 'is not off within a day, though it was stopped since: its old hypervisor may run it on (host_status UP)'),
  },
  {
    name: 'openstack hidden actions',
    defect: 'a server of which nobody shows what was done to it is off',
    file: PROOF,
    edits: [['if (isUp && answer.status === 403)', 'if (answer.status === 403)']],
    killedBy: byTest(READ, 'is not off where nobody shows what was done to it'),
  },
  {
    name: 'openstack one of two names',
    defect: 'of two servers that bear the name of the plug the first is stopped',
    file: ACCOUNT,
    edits: [['if (named.length === 1) return named;', 'if (named.length > 0) return named;']],
    killedBy: byTest(READ, 'is found by its name where no other bears it'),
  },
  {
    name: 'openstack name as pattern',
    defect: 'the name of a server is a regular expression that another server matches',
    file: ACCOUNT,
    edits: [
      ['servers.filter(({ name }) => name === plug)', 'servers'],
      ["name.replaceAll(/[.*+?^${}()|[\\]\\\\]/g, '\\\\$&')", 'name'],
    ],
    killedBy: byTest(READ, 'is found by its name where no other bears it'),
  },
  {
    name: 'openstack other providerID',
    defect: 'a server that the providerID of the Node does not name is stopped',
    file: ACCOUNT,
    edits: [["named === id ? 'same' : 'other'", "named === id ? 'same' : 'unknown'"]],
    killedBy: byTest(READ, 'is another one where the providerID names another server'),
  },
  {
    name: 'openstack stop sent twice',
    defect: 'a stop that may have been done is sent again',
    file: NOVA,
    edits: [["(answer.status === 503 && request.method === 'GET')", 'answer.status === 503']],
    killedBy: byTest(SET, 'that HTTP 503 answers may have been done: it is not sent again, and reads decide'),
  },
  {
    name: 'openstack stale token',
    defect: 'a token that is not taken any more is kept',
    file: NOVA,
    edits: [['this.#tokens.drop(session);', '']],
    killedBy: byTest(SET, 'that is not taken any more in mid-fence is fetched anew, once'),
  },
  {
    name: 'openstack password elsewhere',
    defect: "the process' own password goes to the address that a ConfigMap names",
    file: 'agents/openstack/credentials.ts',
    edits: [
      ['versioned(own.auth_url) !== login.url', 'versioned(own.auth_url) === undefined'],
      ['credentials: { login,', 'credentials: { login: { ...login, url: versioned(own.auth_url ?? login.url) },'],
    ],
    killedBy: byTest(CREDENTIALS, 'of this process are sent to no address that stands beside a method'),
  },
  {
    name: 'openstack evacuated before down',
    defect: 'servers are evacuated from a hypervisor that Nova does not show as down',
    file: 'agents/openstack/compute-service/agent.ts',
    edits: [['if (!after.isForcedDown || after.isUp) throw', "if (after.host === '') throw"]],
    killedBy: byTest(SERVICE, 'has no server evacuated before Nova shows it as down'),
  },
  {
    name: 'openstack service of others let up',
    defect: 'a service that somebody else forced down is let up by a recovery',
    file: 'agents/openstack/compute-service/services.ts',
    edits: [['if (!MARK.test(reason)) return undefined;', '']],
    killedBy: byTest(SERVICE, 'that was forced down by somebody is evacuated, and is not ours to let up'),
  },
  {
    name: 'openstack evacuation half done',
    defect: 'a hypervisor counts as evacuated while servers are still on it',
    file: 'agents/openstack/compute-service/agent.ts',
    edits: [['if (waiting.length === 0) return moved', 'if (waiting.length >= 0) return moved']],
    killedBy: byTest(SERVICE, 'names the servers that do not leave it in time'),
  },
  {
    name: 'while off before the off',
    defect: 'what is right only while the machine is off runs before it is switched off',
    file: 'src/domain/program.ts',
    edits: [
      ["method.action === 'run' && method.whileOff !== true)", "method.action === 'run')"],
      ["method.action === 'run' && method.whileOff === true)", "method.action === 'run' && method.name === '')"],
    ],
    killedBy: byTest(WHILE_OFF, 'runs behind every off and the release and before the first on, wherever it is written'),
  },
  {
    name: 'while off without a read',
    defect: 'what is right only while the machine is off runs although it is on again',
    file: 'src/dispatch/dispatcher.ts',
    edits: [["if (!device.shows(reading, 'off')) return device.describe(reading, 'off');", '']],
    killedBy: byTest('src/dispatch/while-off.test.ts', 'is not begun where one of them reads on'),
  },
  {
    name: 'while off on a void proof',
    defect: 'what is right only while the machine is off runs after its proof was voided',
    file: 'src/domain/advance.ts',
    edits: [
      ['if (proof === undefined || node === undefined) return false;', 'if (proof === undefined || node === undefined) return node !== undefined;'],
    ],
    killedBy: byTest(WHILE_OFF, 'is not done once the proof does not hold any more'),
  },
  {
    name: 'while off of a machine that speaks',
    defect: 'what is right only while the machine is off runs although the node booted anew since its proof',
    file: 'src/domain/advance.ts',
    edits: [
      [
        'return !isAnotherBoot && (provenAtMs === undefined ||',
        'return (!isAnotherBoot || provenAtMs !== undefined) && (provenAtMs !== undefined ||',
      ],
    ],
    killedBy: byTest(WHILE_OFF, 'is not done once the node has booted anew, whoever started it'),
  },
  {
    name: 'openstack insecure by another',
    defect: 'a flag in the environment has any certificate trusted, and a stranger says that a server is off',
    file: 'agents/openstack/keystone.ts',
    edits: [
      [
        'const whole: Trust = { ...trust, ca: pem };',
        'const whole: Trust = { ...trust, ca: pem, insecure: trust.insecure || fields.isInsecure === true };',
      ],
    ],
    killedBy: byTest(SET, 'is trusted by the certificates that its credentials bring along'),
  },
  {
    name: 'cloud credentials in a warning',
    defect: 'a warning about a file of credentials quotes the line with a password, past the log that strikes it out',
    file: 'agents/shared/cloud/yaml.ts',
    edits: [[", logLevel: 'error'", '']],
    killedBy: byTest('agents/shared/cloud/yaml.test.ts', 'is not quoted where its parser would warn of a line, which may hold a password'),
  },
];

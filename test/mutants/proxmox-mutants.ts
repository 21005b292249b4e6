import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const AGENT = 'agents/proxmox/agent.test.ts';
const CREDENTIALS = 'agents/proxmox/credentials.test.ts';
const MACHINE = 'agents/proxmox/machine.ts';
const ACCOUNT = 'agents/proxmox/account.ts';
const API = 'agents/proxmox/api.ts';

/** Defects of the agent proxmox. */
export const PROXMOX_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'proxmox no process is off',
    defect: 'a stopped machine is off whatever its QEMU is said to do',
    file: MACHINE,
    edits: [["status !== 'stopped' || qmp !== 'stopped'", "status !== 'stopped'"]],
    killedBy: byTest(AGENT, 'a machine with the states stopped running as unknown'),
  },
  {
    name: 'proxmox renamed meanwhile',
    defect: 'a machine that had the name of the plug a moment ago is switched off, whatever it is called now',
    file: ACCOUNT,
    edits: [['isVmid(plug) || name === undefined || name === plug ?', 'isVmid(plug) || name === undefined || name !== plug ?']],
    killedBy: byTest(AGENT, 'by its name, and switches none that was given another one since it was looked at'),
  },
  {
    name: 'proxmox hibernated is off',
    defect: 'a machine whose memory stands on a disk is off, as fence_pve has it',
    file: MACHINE,
    edits: [["const isHibernated = lock === 'suspended' || (", "const isHibernated = lock === 'hibernated' || ("]],
    killedBy: byTest(AGENT, 'a machine whose memory is kept on a disk as unknown, and starts none: {"lock":"suspended"}'),
  },
  {
    name: 'proxmox vmstate ignored',
    defect: 'a machine is off though its configuration names a memory to resume',
    file: MACHINE,
    edits: [["lock === 'suspended' || (member(data, 'vmstate')", "lock === 'suspended' || (member(data, 'vm-state')"]],
    killedBy: byTest(AGENT, 'a machine whose memory is kept on a disk as unknown, and starts none: {"vmstate":"local:vm-100-state-suspend"}'),
  },
  {
    name: 'proxmox locked is off',
    defect: 'a machine that a backup has stopped for a moment is off',
    file: MACHINE,
    edits: [['if (lock !== undefined)\n    return told', "if (lock === '')\n    return told"]],
    killedBy: byTest(AGENT, 'a stopped machine that is locked by backup as pending: what has it in hand may start it'),
  },
  {
    name: 'proxmox start under way',
    defect: 'a machine that a running task is about to start is off',
    file: ACCOUNT,
    edits: [["if (stateOf(said).state === 'off') said.tasks", "if (stateOf(said).state === 'on') said.tasks"]],
    killedBy: byTest(AGENT, 'a stopped machine as pending while qmstart runs, which may start it'),
  },
  {
    name: 'proxmox host starts all',
    defect: 'a machine that its host, which has just booted, is about to start is off',
    file: ACCOUNT,
    edits: [["startsWithHost ? '' :", 'startsWithHost ? `&vmid=${vmid}` :']],
    killedBy: byTest('agents/proxmox/host-start.test.ts', 'a stopped machine that starts with its host, while that starts all of its machines'),
  },
  {
    name: 'proxmox host away',
    defect: 'the last known state of a machine is believed though the cluster does not see its host',
    file: MACHINE,
    edits: [["if (!isYes(member(node, 'online')))", "if (isYes(member(node, 'offline')))"]],
    killedBy: byTest(AGENT, 'nothing of a host that the cluster does not see: the machine may run there'),
  },
  {
    name: 'proxmox without quorum',
    defect: 'a host that lost the cluster is believed, while HA starts the machine elsewhere',
    file: MACHINE,
    edits: [["cluster !== undefined && !isYes(member(cluster, 'quorate'))", "cluster !== undefined && isYes(member(cluster, 'inquorate'))"]],
    killedBy: byTest(AGENT, 'nothing that a host without quorum says: the machine may have been started elsewhere'),
  },
  {
    name: 'proxmox HA started is off',
    defect: 'a machine that HA is about to start again is off',
    file: MACHINE,
    edits: [
      ["if (HA_UNDER_WAY.has(state)) return told('pending', 'HA may start it');\n", ''],
      ["if (state !== 'stopped') return told('unknown', 'HA does not say that it is stopped');\n", ''],
    ],
    killedBy: byTest(AGENT, 'does not call a machine off that HA has as started'),
  },
  {
    name: 'proxmox HA lags behind',
    defect: 'HA that has a machine as stopped, and was just asked to start it, is believed',
    file: MACHINE,
    edits: [
      [
        "return told('pending', `HA is asked for ${requested.state}, and may start it`)",
        "return told('off', `HA is asked for ${requested.state}, and may start it`)",
      ],
    ],
    killedBy: byTest(AGENT, 'starts again what it was asked to start, whatever stop came in between: no such machine is read off'),
  },
  {
    name: 'proxmox HA not readable',
    defect: 'a machine is off though what HA was asked for could not be read',
    file: MACHINE,
    edits: [["if ('unknown' in requested) return told('unknown',", "if ('unknown' in requested) return told('off',"]],
    killedBy: byTest(AGENT, 'does not call a machine off where what HA was asked for may not be read'),
  },
  {
    name: 'proxmox graceful',
    defect: 'the guest is asked to shut down',
    file: ACCOUNT,
    edits: [["state === 'off' ? 'stop' : 'start'", "state === 'off' ? 'shutdown' : 'start'"]],
    killedBy: byTest(AGENT, 'never shuts a guest down, nor resets one'),
  },
  {
    name: 'proxmox UUID looked for once',
    defect: 'a machine that was found by its UUID and is off is taken for the node, though a restored copy with that UUID runs as the node',
    file: 'agents/proxmox/finding.ts',
    edits: [['atMs - looked.atMs < staysMs', 'atMs >= looked.atMs']],
    killedBy: byTest(
      'agents/proxmox/copies.test.ts',
      'is refused to a fence a minute later once a restored copy bears it too: the node may run there',
    ),
  },
  {
    name: 'proxmox UUID not compared',
    defect: 'another machine that was given the number is stopped',
    file: ACCOUNT,
    edits: [["{ providerID: provided.plug === vmid ? 'named' : 'other', ...shown }", "{ providerID: provided.plug === vmid ? 'named' : 'other' }"]],
    killedBy: byTest(AGENT, 'that has the number of the one that was there before'),
  },
  {
    name: 'proxmox number proves',
    defect: 'a number, which is given again, proves by itself whose machine it is',
    file: ACCOUNT,
    edits: [["provided.plug === vmid ? 'named' : 'other', ...shown", "provided.plug === vmid ? 'same' : 'other', ...shown"]],
    killedBy: byTest(AGENT, 'and verifies none by its number alone: numbers are given again'),
  },
  {
    name: 'proxmox first of two',
    defect: 'of two machines with one name the first is switched',
    file: 'agents/proxmox/finding.ts',
    edits: [['if (found.length > 1)', 'if (found.length > 1_000)']],
    killedBy: byTest(AGENT, 'and refuses to choose among two of one name'),
  },
  {
    name: 'proxmox resend without lease',
    defect: 'a stop that is sent again without a parameter is sent without asking for the lease',
    file: ACCOUNT,
    edits: [['data = await this.#api.post(call, path, rest, gate);', 'data = await this.#api.post(call, path, rest, () => undefined);']],
    killedBy: byTest(AGENT, 'is sent again without a parameter that the version does not know, and asks for the lease anew'),
  },
  {
    name: 'proxmox broken is refused',
    defect: 'a stop that the front lost on its way counts as refused, though it may have been done',
    file: ACCOUNT,
    edits: [['if (error.status >= 500) return {', 'if (error.status >= 5_000) return {']],
    killedBy: byTest(AGENT, 'that HTTP 596 answers is left to reads'),
  },
  {
    name: 'proxmox stale ticket',
    defect: 'a ticket that is not taken any more is kept',
    file: API,
    edits: [['this.#tickets.drop(pass);', '']],
    killedBy: byTest(CREDENTIALS, 'of a ticket that is not taken any more in the middle of a fence are a new ticket, once'),
  },
  {
    name: 'proxmox credentials to anybody',
    defect: 'the token of the environment goes to whatever host a ConfigMap names',
    file: 'agents/proxmox/logins.ts',
    edits: [
      [
        'if (wanted !== undefined && !isWithin(places, wanted)) return { absent:',
        'if (wanted !== undefined && places.length === 0) return { absent:',
      ],
    ],
    killedBy: byTest(CREDENTIALS, 'of the process go to no host that its own place does not name'),
  },
];

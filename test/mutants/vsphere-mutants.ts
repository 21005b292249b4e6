import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const AGENT = 'agents/vsphere/agent.test.ts';
const SESSIONS = 'agents/vsphere/sessions.test.ts';
const CREDENTIALS = 'agents/vsphere/credentials.test.ts';
const PARAMETERS = 'agents/vsphere/parameters.test.ts';

/** Defects of the agent vsphere. */
export const VSPHERE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'vsphere suspended is off',
    defect: 'a machine whose memory is kept is off, as fence_vmware_rest has it',
    file: 'agents/vsphere/machine.ts',
    edits: [["if (powerState === 'poweredOff') {", "if (powerState === 'poweredOff' || powerState === 'suspended') {"]],
    killedBy: byTest(AGENT, 'does not call a suspended machine off, as fence_vmware_rest does: resumed, it would write on'),
  },
  {
    name: 'vsphere last known power',
    defect: 'the power of a machine that vCenter does not see is believed',
    file: 'agents/vsphere/machine.ts',
    edits: [["if (connectionState !== 'connected') return told", "if (connectionState === 'absent') return told"]],
    killedBy: byTest(AGENT, 'does not believe the last known power of a machine that is disconnected'),
  },
  {
    name: 'vsphere host away',
    defect: 'the power of a machine whose host does not respond is believed',
    file: 'agents/vsphere/machine.ts',
    edits: [["host.connectionState !== 'connected')", "host.connectionState === '')"]],
    killedBy: byTest(AGENT, 'does not believe the power of a machine whose host is notResponding'),
  },
  {
    name: 'vsphere about to start',
    defect: 'a machine that a queued task is about to start is off',
    file: 'agents/vsphere/machine.ts',
    edits: [["if (isUnderWay(STARTS, 'on')) return told('pending');", '']],
    killedBy: byTest(AGENT, 'does not call off what somebody is about to start: HA, DRS, a snapshot that is reverted to'),
  },
  {
    name: 'vsphere lost with its host',
    defect: 'a machine that HA is about to start elsewhere, and that its old host may run still, is off',
    file: 'agents/vsphere/machine.ts',
    edits: [["return machine.isProtected && !isOffByUs(machine, asked) ? told('pending', LOST) : told('off');", "return told('off');"]],
    killedBy: byTest(AGENT, 'does not call off what HA lost with its host: it starts it elsewhere, and no task shows that'),
  },
  {
    name: 'vsphere off by a task that failed',
    defect: 'a power-off of ours that changed nothing makes a machine off that HA lost with its host',
    file: 'agents/vsphere/machine.ts',
    edits: [["id === asked.task && state === 'success'", 'id === asked.task']],
    killedBy: byTest(AGENT, 'does not call off what HA lost with its host: it starts it elsewhere, and no task shows that'),
  },
  {
    name: 'vsphere task not shown',
    defect: 'a machine that is off is off, though a task on it does not show whether it is about to start it',
    file: 'agents/vsphere/machine.ts',
    edits: [["if (untold !== undefined) return told('pending',", "if (untold?.state === 'never') return told('pending',"]],
    killedBy: byTest(AGENT, 'does not call off what a task may be about to start that is shown without its state'),
  },
  {
    name: 'vsphere first page',
    defect: 'only the first page of what is shown is looked at',
    file: 'agents/vsphere/account.ts',
    edits: [['if (token === undefined) return machineOf', 'if (token === undefined || pages === 1) return machineOf']],
    killedBy: byTest(AGENT, 'looks at every page of what is shown: a task that is about to start the machine may stand on the last'),
  },
  {
    name: 'vsphere another machine shown',
    defect: 'the first machine of an answer is taken for the one that was asked for',
    file: 'agents/vsphere/machine.ts',
    edits: [['object?.type === wanted.type && object.id === wanted.id', 'object?.type === wanted.type']],
    killedBy: byTest(AGENT, 'believes nothing that is said of a machine which was not asked for'),
  },
  {
    name: 'vsphere not found is off',
    defect: 'a machine that this vCenter does not have is off',
    file: 'agents/vsphere/account.ts',
    edits: [
      [
        "if (object === undefined) throw call.error('Misconfigured', notFound(plug, session));",
        "if (object === undefined) {\n      const gone = notFound(plug, session);\n      return { object: { type: 'VirtualMachine', id: 'none' }, name: gone, uuid: undefined, powerState: 'poweredOff', connectionState: 'connected', question: undefined, addresses: [], host: undefined, tasks: [], missing: [] };\n    }",
      ],
    ],
    killedBy: byTest(AGENT, 'never takes nobody, which is not there, for off'),
  },
  {
    name: 'vsphere first of several',
    defect: 'of several machines with one name the first is switched',
    file: 'agents/vsphere/account.ts',
    edits: [['if (found.length > 1)', 'if (found.length > 1_000)']],
    killedBy: byTest(AGENT, 'and refuses to choose among several of one name'),
  },
  {
    name: 'vsphere found once',
    defect: 'which machine bears a UUID is never asked again: one that is off is the node, while the node runs as a copy of it',
    file: 'agents/vsphere/inventory.ts',
    edits: [['const KNOWN_MS = 60_000;', 'const KNOWN_MS = Infinity;']],
    killedBy: byTest(
      AGENT,
      'and refuses it as soon as a copy with its UUID stands beside it, also where it was found before: the node may run there',
    ),
  },
  {
    name: 'vsphere one byte order',
    defect: 'a machine is looked for by its UUID in one byte order only',
    file: 'agents/vsphere/inventory.ts',
    edits: [['of new Set([uuid, swapped])', 'of new Set(swapped === uuid ? [swapped] : [uuid])']],
    killedBy: byTest(AGENT, 'by the UUID that its Node shows, in the other byte order'),
  },
  {
    name: 'vsphere managed host',
    defect: 'an ESXi host is believed though the machine may run on another host of its vCenter',
    file: 'agents/vsphere/account.ts',
    edits: [['if (session.isHost) alone(call, machine);', 'if (session.key === "") alone(call, machine);']],
    killedBy: byTest(AGENT, 'of a vCenter proves nothing: HA may have started the machine on another one'),
  },
  {
    name: 'vsphere invalid state is done',
    defect: 'a fault that says the power state forbids it is taken for an accepted set',
    file: 'agents/vsphere/account.ts',
    edits: [["return { result: 'unclear', detail: wordsOf(error) };", "return { result: 'accepted', detail: wordsOf(error) };"]],
    killedBy: byTest(AGENT, 'takes a second off for what a read says, not for the InvalidPowerState that it is answered with'),
  },
  {
    name: 'vsphere guest shutdown',
    defect: 'the guest is asked to shut down',
    file: 'agents/vsphere/account.ts',
    edits: [["state === 'off' ? 'PowerOffVM_Task' : 'PowerOnVM_Task'", "state === 'off' ? 'ShutdownGuest' : 'PowerOnVM_Task'"]],
    killedBy: byTest(AGENT, 'powers a machine off and on with nothing but the environment, in four requests besides polls'),
  },
  {
    name: 'vsphere without lease',
    defect: 'the request that switches is sent without asking for the lease',
    file: 'agents/vsphere/account.ts',
    edits: [[', gate: () => call.target.beforeSend() }', ' }']],
    killedBy: byTest(AGENT, 'in the turn of the send, and sends nothing without it'),
  },
  {
    name: 'vsphere error after acceptance',
    defect: 'nobody is told that an accepted task ended in an error',
    file: 'agents/vsphere/account.ts',
    edits: [['this.#remember(machine.id, { task: task.id, state });', '']],
    killedBy: byTest(AGENT, 'tells in its own words that a task which was accepted ended in an error'),
  },
  {
    name: 'vsphere session left open',
    defect: 'a session whose login was not waited for is never ended',
    file: 'agents/shared/cloud/kept-session.ts',
    edits: [['await Promise.allSettled(this.#opening.values());', '']],
    killedBy: byTest(SESSIONS, 'is not left open by a call that gave up while the login was under way'),
  },
  {
    name: 'vsphere unidentified in a new session',
    defect: 'an id of a session that was lost is switched in another one, unseen',
    file: 'agents/vsphere/account.ts',
    edits: [['this.#shownIn.get(view) === session ? view : await this.#view(call, session)', 'view']],
    killedBy: byTest(SESSIONS, 'that ended in the middle of a fence is opened anew, once, and the machine is identified anew before it is switched'),
  },
  {
    name: 'vsphere password to anybody',
    defect: 'the password of the environment goes to whatever server a ConfigMap names',
    file: 'agents/vsphere/logins.ts',
    edits: [
      ['if (wanted !== undefined && !isSame(wanted, place)) return { absent: `${source} names ${placeText(place, HTTPS_PORT)}` };', ''],
      [
        'return { credentials: { place, username, password, ...(await',
        'return { credentials: { place: wanted ?? place, username, password, ...(await',
      ],
    ],
    killedBy: byTest(CREDENTIALS, 'of the environment are never sent to another server that a ConfigMap names'),
  },
  {
    name: 'vsphere weak pin',
    defect: 'a SHA-1 thumbprint is let through',
    file: 'agents/vsphere/parameters.ts',
    edits: [['return SHA1.test(text.trim());', 'return SHA1.test(text.trim()) && text === "";']],
    killedBy: byTest(PARAMETERS, 'refuse a SHA-1 thumbprint'),
  },
];

import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const AGENT = 'agents/ovirt/agent.test.ts';
const CREDENTIALS = 'agents/ovirt/credentials.test.ts';
const ACCOUNT = 'agents/ovirt/account.ts';
const MACHINE = 'agents/ovirt/virtual-machine.ts';

/** Defects of the agent ovirt. */
export const OVIRT_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'ovirt suspended is off',
    defect: 'a machine whose memory is kept, and would write on, is off',
    file: MACHINE,
    edits: [["suspended: ['unknown',", "suspended: ['off',"]],
    killedBy: byTest(AGENT, 'does not call a suspended machine off: resumed, it would write on'),
  },
  {
    name: 'ovirt no status is off',
    defect: 'a machine of which no status is shown is off, as fence_rhevm has it',
    file: MACHINE,
    edits: [["?? ['unknown'];", "?? [status === '' ? 'off' : 'unknown'];"]],
    killedBy: byTest(AGENT, 'does not call off what the engine shows no status of, as fence_rhevm does: such as one with an illegal disk'),
  },
  {
    name: 'ovirt lost host is off',
    defect: 'a machine whose host is lost, and which the engine calls not running, is off',
    file: MACHINE,
    edits: [["unknown: ['unknown',", "unknown: ['off',"]],
    killedBy: byTest(AGENT, 'does not take "VM is not running", which the engine says of one whose host is lost, for off'),
  },
  {
    name: 'ovirt lease not looked at',
    defect: 'a machine with a lease is off by its status, though the attempt to start it elsewhere alone may have left it down',
    file: ACCOUNT,
    edits: [["machine.state === 'off' && unheard !== undefined ? 'unknown'", "machine.state === 'off' && unheard === '' ? 'unknown'"]],
    killedBy: byTest(AGENT, 'believes no down where hosts may not be seen'),
  },
  {
    name: 'ovirt connecting host is heard',
    defect: 'a host that does not answer just now counts as one that the engine hears',
    file: 'agents/ovirt/hosts.ts',
    edits: [["new Set(['up',", "new Set(['connecting', 'up',"]],
    killedBy: byTest(
      AGENT,
      'believes no down while a host of its cluster is "connecting": each attempt to start it elsewhere leaves it down though it runs',
    ),
  },
  {
    name: 'ovirt no hosts are all heard',
    defect: 'where the user sees no host, no host is lost',
    file: 'agents/ovirt/hosts.ts',
    edits: [['if (hosts.length === 0)', 'if (hosts.length < 0)']],
    killedBy: byTest(AGENT, 'believes no down where no host is shown, and tells a probe so before it matters'),
  },
  {
    name: 'ovirt first that is found',
    defect: 'the first of the machines that a search finds is taken, whatever it is called',
    file: ACCOUNT,
    edits: [["textAt(one, 'name') === name", "textAt(one, 'name') !== ''"]],
    killedBy: byTest(AGENT, 'whose name alone is equal, among those that a search finds'),
  },
  {
    name: 'ovirt one of a name',
    defect: 'of several machines of one name the first is taken',
    file: ACCOUNT,
    edits: [['if (found.length > 1)', 'if (found.length > 9)']],
    killedBy: byTest(AGENT, 'and refuses to choose among several of one name'),
  },
  {
    name: 'ovirt shown another',
    defect: 'what is shown of another machine is believed of the one that was asked for',
    file: ACCOUNT,
    edits: [['if (machine.id !== id)', "if (machine.id === '')"]],
    killedBy: byTest(AGENT, 'and believes nothing that is said of one which was not asked for'),
  },
  {
    name: 'ovirt resend without lease',
    defect: 'a stop that comes again is sent without asking for the lease',
    file: ACCOUNT,
    edits: [
      ["const action = state === 'off' ? 'stop' : 'start';", "const action = state === 'off' ? 'stop' : 'start';\n    let asked = 0;"],
      ['gate: () => call.target.beforeSend()', 'gate: () => (asked++ === 0 ? call.target.beforeSend() : undefined)'],
    ],
    killedBy: byTest(AGENT, 'again before a stop that something else had held up comes again'),
  },
  {
    name: 'ovirt conflict is a refusal',
    defect: 'a stop that another command holds up is not sent again',
    file: ACCOUNT,
    edits: [['if (status === 409 && /', 'if (status === 499 && /']],
    killedBy: byTest(AGENT, 'that something else holds up is sent again'),
  },
  {
    name: 'ovirt permits unfiltered',
    defect: 'a probe counts permissions of other users as those of its own',
    file: ACCOUNT,
    edits: [['/${PERMISSIONS}`, isFiltered: true }', '/${PERMISSIONS}` }']],
    killedBy: byTest(AGENT, 'which permit no role of the user has, and sends nothing for it'),
  },
  {
    name: 'ovirt stale token',
    defect: 'a token that is not taken any more is kept',
    file: ACCOUNT,
    edits: [['this.#sessions.drop(session);', '']],
    killedBy: byTest(AGENT, 'takes a new token once when the old one is not taken any more, and ends the last one when it is closed'),
  },
  {
    name: 'ovirt password elsewhere',
    defect: 'a password of the environment goes to the engine that a ConfigMap names',
    file: 'agents/ovirt/logins.ts',
    edits: [['const place = placeOf(offer.url);', 'const place = wanted ?? placeOf(offer.url);']],
    killedBy: byTest(CREDENTIALS, 'are not sent to another engine than their own place names'),
  },
  {
    name: 'ovirt insecure flag',
    defect: 'an insecure flag of the environment is followed',
    file: 'agents/ovirt/logins.ts',
    edits: [
      [
        "trust: { ...trust, ca: certificates.length === 0 ? undefined : certificates.join('\\n') }",
        "trust: { ...trust, insecure: isInsecure, ca: certificates.length === 0 ? undefined : certificates.join('\\n') }",
      ],
    ],
    killedBy: byTest(CREDENTIALS, 'go to no engine that is not trusted, whatever an insecure flag says, and the way to trust it is told'),
  },
  {
    name: 'ovirt hosts beyond the list',
    defect: 'a machine with a lease is off although the list of hosts may end before the one that is lost',
    file: 'agents/ovirt/hosts.ts',
    edits: [['if (all.length >= HOSTS_MAX)', 'if (all.length < 0)']],
    killedBy: byTest(
      'agents/ovirt/hosts.test.ts',
      'believes no down where the list of hosts may not be whole: one that is lost may stand behind its end',
    ),
  },
];

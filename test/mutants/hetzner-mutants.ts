import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const AGENT = 'agents/hetzner/agent.test.ts';
const ANSWERS = 'agents/hetzner/answers.ts';
const CLOUD = 'agents/hetzner/cloud.ts';

/** Defects of the agent hetzner. */
export const HETZNER_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'hetzner stopping is off',
    defect: 'a server that is on its way to stop is off',
    file: ANSWERS,
    edits: [["stopping: 'pending'", "stopping: 'off'"]],
    killedBy: byTest(AGENT, 'that says stopping is pending'),
  },
  {
    name: 'hetzner locked is off',
    defect: 'a server that an action under way may be starting is off',
    file: ANSWERS,
    edits: [["return locked ? 'pending' : 'off';", "return 'off';"]],
    killedBy: byTest(AGENT, 'is not off while an action is under way, which may start it'),
  },
  {
    name: 'hetzner lock not shown',
    defect: 'a server of which nobody says whether an action is under way is off',
    file: ANSWERS,
    edits: [["if (typeof locked !== 'boolean') return 'unknown';", '']],
    killedBy: byTest(AGENT, 'is not off while an action is under way, which may start it'),
  },
  {
    name: 'hetzner other providerID',
    defect: 'a server that the providerID of the Node does not name is powered off',
    file: CLOUD,
    edits: [["=== id ? 'same' : 'other'", "=== id ? 'same' : 'unknown'"]],
    killedBy: byTest(AGENT, 'is another one where the providerID names another, or has another number than was asked for'),
  },
  {
    name: 'hetzner other number',
    defect: 'a server that was not asked for is believed',
    file: CLOUD,
    edits: [['if (isNumber(plug) && server.id !== plug) throw', "if (isNumber(plug) && server.id === '') throw"]],
    killedBy: byTest(AGENT, 'is another one where the providerID names another, or has another number than was asked for'),
  },
  {
    name: 'hetzner one of two names',
    defect: 'of two servers that bear the name of the plug the first is powered off',
    file: CLOUD,
    edits: [['if (named.length === 1) return server;', 'if (named.length > 0) return server;']],
    killedBy: byTest(AGENT, 'is found by its name where no other bears it'),
  },
  {
    name: 'hetzner refused behind a lock',
    defect: 'an action such as a snapshot keeps a server from being fenced at once',
    file: CLOUD,
    edits: [["new Set(['locked', 'conflict'])", 'new Set<string>([])']],
    killedBy: byTest(AGENT, 'that HTTP 423 locked turns away was not begun: it is sent anew, and asks for the lease each time'),
  },
  {
    name: 'hetzner off sent twice',
    defect: 'a power-off that may have been done is sent again',
    file: CLOUD,
    edits: [["(answer.status === 503 && ask.method === 'GET')", 'answer.status === 503']],
    killedBy: byTest(AGENT, 'that HTTP 503 answers may have been done: it is not sent again, and reads decide'),
  },
  {
    name: 'hetzner token elsewhere',
    defect: 'the token of the process goes to the host that a ConfigMap names',
    file: 'agents/hetzner/credentials.ts',
    edits: [['ofFile(host)], foreignHost)', 'ofFile(host)], foreignHost === undefined ? foreignHost : undefined)']],
    killedBy: byTest(AGENT, 'of this process goes to no host that a ConfigMap names'),
  },
  {
    name: 'hetzner old token',
    defect: 'a token that was changed in its file is never read anew',
    file: CLOUD,
    edits: [['if (answer.status === 401) {', 'if (answer.status === 499) {']],
    killedBy: byTest(AGENT, 'that was changed in its file in mid-fence is read anew'),
  },
  {
    name: 'hetzner token of another call',
    defect: 'a call whose token was changed is refused where another call has found the new one meanwhile',
    file: CLOUD,
    edits: [
      ['      this.#token = found;\n', ''],
      [
        'if (found.text !== used.text) answer',
        'const isAnother = found.text !== this.#token?.text;\n      this.#token = found;\n      if (isAnother) answer',
      ],
    ],
    killedBy: byTest(
      AGENT,
      'that was changed is read anew by each of the calls that are under way: none is refused because another one has found it first',
    ),
  },
];

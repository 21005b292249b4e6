import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const AGENT = 'agents/azure/agent.test.ts';
const ANSWERS = 'agents/azure/answers.ts';
const CLOUD = 'agents/azure/cloud.ts';

/** Defects of the agent azure. */
export const AZURE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'azure stopping is off',
    defect: 'a machine that is on its way to stop is off',
    file: ANSWERS,
    edits: [["stopping: 'pending'", "stopping: 'off'"]],
    killedBy: byTest(AGENT, 'reads PowerState/stopping as pending'),
  },
  {
    name: 'azure hibernated is off',
    defect: 'a machine whose memory is kept, and would write on, is off',
    file: ANSWERS,
    edits: [['hibernation !== undefined || provisioning === undefined', 'provisioning === undefined']],
    killedBy: byTest(AGENT, 'does not take a hibernated machine for off: resumed, it would write on'),
  },
  {
    name: 'azure first power state',
    defect: 'the first of two power states that contradict is believed',
    file: ANSWERS,
    edits: [['powers.length === 1 ?', 'powers.length > 0 ?']],
    killedBy: byTest(AGENT, 'does not take two power states for one'),
  },
  {
    name: 'azure updating is settled',
    defect: 'a stopped machine that an operation may be starting is off',
    file: ANSWERS,
    edits: [["new Set(['succeeded', ", "new Set(['updating', 'succeeded', "]],
    killedBy: byTest(AGENT, 'does not take a stopped machine for off while an operation is under way, which may start it'),
  },
  {
    name: 'azure vmId not compared',
    defect: 'another machine that bears the same name now is stopped',
    file: CLOUD,
    edits: [
      [
        "{ providerID: isNamed ? 'named' : 'other', uuid: vmId }",
        "{ providerID: isNamed ? 'named' : 'other', uuid: vmId === '' ? vmId : undefined }",
      ],
    ],
    killedBy: byTest(AGENT, 'sends nothing to another machine of the same name'),
  },
  {
    name: 'azure providerID not compared',
    defect: 'a machine that the providerID does not name is stopped',
    file: CLOUD,
    edits: [["isNamed ? 'named' : 'other', uuid: vmId", "isNamed ? 'named' : 'unknown', uuid: undefined ?? (isNamed ? vmId : undefined)"]],
    killedBy: byTest(AGENT, 'sends nothing to a machine that the providerID does not name'),
  },
  {
    name: 'azure token elsewhere',
    defect: 'the token goes to whatever host the header of an operation names',
    file: CLOUD,
    edits: [['return url?.origin === new URL(this.#endpoint).origin ?', 'return url !== undefined ?']],
    killedBy: byTest(AGENT, 'takes the token to no other host, whatever the header of an operation says'),
  },
  {
    name: 'azure stale token',
    defect: 'a token that is not taken any more is kept',
    file: CLOUD,
    edits: [['this.#tokens.drop(token);', '']],
    killedBy: byTest(AGENT, 'takes a new token once when the old one is not taken any more'),
  },
  {
    name: 'azure resend without lease',
    defect: 'a power-off that comes again after a throttle is sent without asking for the lease',
    file: CLOUD,
    edits: [
      [
        'const gate = (): void => call.target.beforeSend();',
        'let asked = false;\n    const gate = (): void => {\n      if (!asked) call.target.beforeSend();\n      asked = true;\n    };',
      ],
    ],
    killedBy: byTest(AGENT, 'asks for the lease in the turn of each send, also of one that comes again after a throttle'),
  },
  {
    name: 'azure notActions ignored',
    defect: 'a permission that a role takes away again counts as given',
    file: 'agents/azure/permissions.ts',
    edits: [["isIn(one, 'actions') && !isIn(one, 'notActions')", "isIn(one, 'actions')"]],
    killedBy: byTest(AGENT, 'tells a probe which permission is missing'),
  },
];

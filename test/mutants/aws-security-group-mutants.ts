import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const GROUPS = 'agents/aws/security-groups.test.ts';
const AGENT = 'agents/aws/security-groups.ts';
const INTERFACES = 'agents/aws/interfaces.ts';

/** Defects of the agent aws-security-group. */
export const AWS_SECURITY_GROUP_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'aws-security-group one is enough',
    defect: 'an instance is closed when one of its interfaces is isolated',
    file: AGENT,
    edits: [['if (isolated.every(Boolean) && problem', 'if (isolated.some(Boolean) && problem']],
    killedBy: byTest(GROUPS, 'is on its way while some interfaces are isolated and others not'),
  },
  {
    name: 'aws-security-group beside others',
    defect: 'the group of isolation beside another one isolates',
    file: AGENT,
    edits: [['groups.length === 1 && groups[0] === this.#group', 'groups.includes(this.#group)']],
    killedBy: byTest(GROUPS, 'is not closed with the group of isolation beside another'),
  },
  {
    name: 'aws-security-group one witness',
    defect: 'what the instance shows of its interfaces is not heard',
    file: AGENT,
    edits: [
      ['[...mapped, ...interfaces].map((one) => this.#isIsolated(one))', 'interfaces.map((one) => mapped.length > 0 && this.#isIsolated(one))'],
    ],
    killedBy: byTest(GROUPS, 'is not closed while the instance itself still shows other groups'),
  },
  {
    name: 'aws-security-group half a list',
    defect: 'a list that leaves an interface out is whole',
    file: AGENT,
    edits: [['attached.length === 0 || shown?.join() !== listed?.join()', 'attached.length === 0 && shown?.join() !== listed?.join()']],
    killedBy: byTest(GROUPS, 'knows nothing by a list that leaves an interface out'),
  },
  {
    name: 'aws-security-group without its branches',
    defect: 'an instance is closed while a pod of it goes on over an interface of its own',
    file: AGENT,
    edits: [['const interfaces = [...attached, ...branches];', 'const interfaces = [...attached];']],
    killedBy: byTest(GROUPS, 'isolates the interfaces of pods, which no attachment leads to'),
  },
  {
    name: 'aws-security-group noted too late',
    defect: 'the groups are changed before it is noted which they were',
    file: AGENT,
    edits: [
      [
        "      const noted = await this.#send(call, one.id, note(one));\n      if (noted.result !== 'accepted') return { result: 'unclear', detail: `${noted.detail}: its groups may not be noted, and stay` };\n      outcomes.push(await this.#send(call, one.id, groupsTo(one.id, [this.#group])));\n",
        '      outcomes.push(await this.#send(call, one.id, groupsTo(one.id, [this.#group])));\n      outcomes.push(await this.#send(call, one.id, note(one)));\n',
      ],
    ],
    killedBy: byTest(GROUPS, 'notes the groups before it changes them'),
  },
  {
    name: 'aws-security-group perhaps noted',
    defect: 'the groups are changed though they may not have been noted',
    file: AGENT,
    edits: [["      if (noted.result !== 'accepted') return", "      if (noted.detail === '') return"]],
    killedBy: byTest(GROUPS, 'changes nothing of an interface whose groups may not have been noted'),
  },
  {
    name: 'aws-security-group noted over',
    defect: 'an interface that is isolated already is noted as one that had the group of isolation',
    file: AGENT,
    edits: [['    const due = interfaces.filter((one) => !this.#isIsolated(one));\n', '    const due = [...interfaces];\n']],
    killedBy: byTest(GROUPS, 'does not write over what was noted when it isolates again'),
  },
  {
    name: 'aws-security-group any tag',
    defect: 'what stands in the tag is taken for groups, whoever wrote it',
    file: INTERFACES,
    edits: [['groups.length > 0 && groups.every(isGroup) ? groups : undefined', 'groups.length > 0 && groups.some(isGroup) ? groups : undefined']],
    killedBy: byTest(GROUPS, 'guesses nothing where the tag is "sg-00000000b sg-evil;"'),
  },
  {
    name: 'aws-security-group with rules',
    defect: 'a group whose rules let everything out isolates',
    file: INTERFACES,
    edits: [["['ipPermissions', 'ipPermissionsEgress'].map(", "['ipPermissions'].map("]],
    killedBy: byTest(GROUPS, 'isolates by no group that isolates nothing: sg-00000000d has 1 rules'),
  },
  {
    name: 'aws-security-group of rules that are not shown',
    defect: 'a list of rules that is not shown is an empty one',
    file: INTERFACES,
    edits: [['child(group, name)?.children.length)', 'child(group, name)?.children.length ?? 0)']],
    killedBy: byTest(GROUPS, 'is not closed by a group whose rules are not all shown: ipPermissions'),
  },
  {
    name: 'aws-security-group given rules',
    defect: 'an instance stays closed when its group is given rules',
    file: AGENT,
    edits: [["if (isolated.every(Boolean) && problem === undefined) return 'closed';", "if (isolated.every(Boolean)) return 'closed';"]],
    killedBy: byTest(GROUPS, 'is not closed by a group that was given rules, and is opened again all the same'),
  },
  {
    name: 'aws-security-group claims storage',
    defect: 'a method of it says storage=, and pods are let go by what keeps nothing from EBS',
    file: 'src/config/plan-method.ts',
    edits: [['    !isClaimed &&\n', '']],
    killedBy: byTest('src/config/storage-claims.test.ts', 'a security group is no way to a storage, and a method of it that says so is left out'),
  },
];

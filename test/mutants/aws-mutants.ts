import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const AGENT = 'agents/aws/agent.test.ts';
const CREDENTIALS = 'agents/aws/credentials.test.ts';
const IDENTITY = 'agents/shared/cloud/instance.test.ts';
const TOKENS = 'agents/shared/cloud/tokens.test.ts';

/** Defects of the agent aws, and of what agents of clouds share. */
export const AWS_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'aws no list',
    defect: 'an answer without a list of instances shows that a deleted one is gone',
    file: 'agents/aws/answers.ts',
    edits: [[" || child(root, 'reservationSet') === undefined) return", ') return']],
    killedBy: byTest('agents/aws/answers.test.ts', 'that has no list is none: <DescribeInstancesResponse/>'),
  },
  {
    name: 'aws stopping is off',
    defect: 'an instance that is on its way to stop, and may stick there, is off',
    file: 'agents/aws/answers.ts',
    edits: [["48: 'off', 64: 'pending'", "48: 'off', 64: 'off'"]],
    killedBy: byTest(AGENT, 'reads the state code 64 as pending: its low byte alone counts'),
  },
  {
    name: 'aws no code is pending',
    defect: 'an empty state code is read as 0, which is pending',
    file: 'agents/aws/answers.ts',
    edits: [['code !== undefined && /^\\d{1,6}$/.test(code) ? Number(code) & 0xff : undefined', 'Number(code ?? 0) & 0xff']],
    killedBy: byTest(AGENT, 'reads the state code  as unknown: its low byte alone counts'),
  },
  {
    name: 'aws high byte',
    defect: 'the whole state code is compared, which AWS uses for itself',
    file: 'agents/aws/answers.ts',
    edits: [['Number(code) & 0xff', 'Number(code)']],
    killedBy: byTest(AGENT, 'reads the state code 65616 as off: its low byte alone counts'),
  },
  {
    name: 'aws not found is off',
    defect: 'an instance that is not in this region is taken for stopped',
    file: 'agents/aws/cloud.ts',
    edits: [
      [
        'const instance = await this.#api.instance(call);',
        "const instance = await this.#api.instance(call).catch(() => ({ id: call.target.plug, state: 'off', shown: '', isTerminated: true, addresses: [], name: undefined, remarks: [] }) as const);",
      ],
    ],
    killedBy: byTest(AGENT, 'never takes an instance that is not found for off: it may stand in another region or account'),
  },
  {
    name: 'aws graceful stop',
    defect: 'the stop waits for the shutdown of a system that may hang',
    file: 'agents/aws/cloud.ts',
    edits: [["(this.#skipOsShutdown ? { SkipOsShutdown: 'true' } : {})", '{}']],
    killedBy: byTest(AGENT, 'stops without the shutdown of the operating system, and by force'),
  },
  {
    name: 'aws resend without lease',
    defect: 'a stop that comes again after a throttle is sent without asking for the lease',
    file: 'agents/aws/cloud.ts',
    edits: [
      [
        'const gate = (): void => call.target.beforeSend();',
        'let asked = false;\n    const gate = (): void => {\n      if (!asked) call.target.beforeSend();\n      asked = true;\n    };',
      ],
    ],
    killedBy: byTest(AGENT, 'asks for the lease in the turn of each send, also of one that comes again after a throttle'),
  },
  {
    name: 'aws refusal unclear',
    defect: 'a refused stop is called unclear, and polled for a minute',
    file: 'agents/aws/cloud.ts',
    edits: [
      [
        '      throw this.#api.refusal(call, answer);\n    });',
        "      return { result: 'unclear', detail: String(this.#api.refusal(call, answer)) };\n    });",
      ],
    ],
    killedBy: byTest(AGENT, 'takes a set that left without an answer for unclear, and a refusal for one'),
  },
  {
    name: 'aws own clock',
    defect: 'requests are signed by a clock that the cloud refuses',
    file: 'agents/aws/signed-query.ts',
    edits: [['amzDate(this.#time.nowMs)', 'amzDate(this.#reach.clock.wallMs())']],
    killedBy: byTest(AGENT, 'signs with the time of the cloud where ours is another'),
  },
  {
    name: 'aws token anywhere',
    defect: 'the token of a container is given to any address',
    file: 'agents/aws/keys.ts',
    edits: [["parsed === undefined || (parsed.protocol !== 'https:' && !PLAIN_HOSTS.has(parsed.hostname))", 'parsed === undefined']],
    killedBy: byTest(CREDENTIALS, 'are those of a container, with its token'),
  },
  {
    name: 'aws stale session',
    defect: 'a session that ended in the middle of a fence is used on',
    file: 'agents/aws/ec2-api.ts',
    edits: [['    this.#keys.drop(keys);\n', '']],
    killedBy: byTest(CREDENTIALS, 'are renewed once in the middle of a fence when they are not taken any more'),
  },
  {
    name: 'aws hibernated is off',
    defect: 'an instance whose processes go on at the next start counts as stopped',
    file: 'agents/aws/answers.ts',
    edits: [['hibernation !== undefined ?', 'hibernation === number ?']],
    killedBy: byTest(AGENT, 'reads a stopped instance for the reason Client.UserInitiatedHibernate, hibernation undefined, as unknown'),
  },
  {
    name: 'aws spot is never hibernated',
    defect: 'a spot instance that its interruption hibernated reads off, where its HibernationOptions say nothing',
    file: 'agents/aws/answers.ts',
    edits: [["isSpot(element) || textOf(child(element, 'hibernationOptions')", "textOf(child(element, 'hibernationOptions')"]],
    killedBy: byTest(
      AGENT,
      'reads a stopped spot instance for the reason Server.SpotInstanceShutdown as unknown: its interruption may have hibernated it',
    ),
  },
  {
    name: 'aws hibernated from within',
    defect: 'a shutdown from within is never taken for a hibernation, though the instance may hibernate',
    file: 'agents/aws/answers.ts',
    edits: [['(!mayHibernate || reason === STOPPED_BY_API)', 'reason !== HIBERNATED']],
    killedBy: byTest(AGENT, 'reads a stopped instance for the reason Client.InstanceInitiatedShutdown, hibernation true, as unknown'),
  },
  {
    name: 'aws dry run blindly',
    defect: 'a probe asks for a stop by dry run where nobody knows whether that is done for real',
    file: 'agents/aws/ec2-api.ts',
    edits: [["if (failureIn(answer.text)?.code !== 'DryRunOperation')", 'if (answer.status >= 500)']],
    killedBy: byTest(AGENT, 'stops nothing by a dry run where the endpoint does not know what that is'),
  },
  {
    name: 'aws starts what is gone',
    defect: 'the start of a terminated instance is sent, and waited for',
    file: 'agents/shared/cloud/instance-agent.ts',
    edits: [["state === 'on' && view.cannotStart !== undefined", "state === 'on' && view.id === ''"]],
    killedBy: byTest(AGENT, 'does not ask for the start of an instance that is gone for good'),
  },
  {
    name: 'aws one call knows the time',
    defect: 'of calls that went together with the wrong time, one alone is signed anew',
    file: 'agents/aws/signed-query.ts',
    edits: [
      ['    this.#time.hear(first);\n', '    const isNews = this.#time.hear(first);\n'],
      ['this.#time.isFarFrom(aheadMs)', 'isNews'],
    ],
    killedBy: byTest(AGENT, 'signs every call anew that was signed by the wrong time, also those that went together'),
  },
  {
    name: 'aws keys for ever',
    defect: 'keys without an end are never read anew, though AWS takes them no more',
    file: 'agents/aws/ec2-api.ts',
    edits: [
      [
        '!STALE_KEYS.has(failure.code)) return answer',
        '!STALE_KEYS.has(failure.code) || keys.expiresAtMs === Number.POSITIVE_INFINITY) return answer',
      ],
    ],
    killedBy: byTest(CREDENTIALS, 'are read anew from the shared files where AWS does not take them any more'),
  },
  {
    name: 'cloud credentials anywhere',
    defect: 'what the process is trusted with is given to a host that whoever writes the configuration names',
    file: 'agents/shared/cloud/credentials.ts',
    edits: [['foreignHost !== undefined && source.isOfProcess === true', "foreignHost === '' && source.isOfProcess === true"]],
    killedBy: byTest(CREDENTIALS, 'of the process are given to no host that the configuration names'),
  },
  {
    name: 'aws bare 503',
    defect: 'a set whose answer is the 503 of somebody between is sent again, though it may have been done',
    file: 'agents/aws/signed-query.ts',
    edits: [['answer.status === 503 && gate === undefined', 'answer.status === 503']],
    killedBy: byTest(AGENT, 'takes a bare 503 for no refusal of a set: somebody between may have said so, behind whom it was done'),
  },
  {
    name: 'cloud name as proof',
    defect: 'an instance that bears the name of the node’s is the node’s',
    file: 'agents/shared/cloud/instance.ts',
    edits: [["(machine.providerID === 'named' && addressed === 'same')", "machine.providerID === 'named'"]],
    killedBy: byTest(IDENTITY, 'by a name alone, which another may bear by now'),
  },
  {
    name: 'cloud other address',
    defect: 'an instance with other addresses than the node’s is switched',
    file: 'agents/shared/cloud/instance.ts',
    edits: [["  if (addressed === 'other')\n", '  if (addressed === undefined)\n']],
    killedBy: byTest(IDENTITY, 'by the same id and other addresses'),
  },
  {
    name: 'cloud token to its end',
    defect: 'a token is used until the second in which it ends',
    file: 'agents/shared/cloud/tokens.ts',
    edits: [['const RENEWED_BEFORE_MS = 60_000;', 'const RENEWED_BEFORE_MS = 0;']],
    killedBy: byTest(TOKENS, 'is renewed before it ends, so that none ends in the middle of a fence'),
  },
];

import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const VOLUMES = 'agents/aws/volumes.test.ts';
const AGENT = 'agents/aws/volumes.ts';
const ATTACHMENTS = 'agents/aws/attachments.ts';

/** Defects of the agent aws-volume. */
export const AWS_VOLUME_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'aws-volume detaching is closed',
    defect: 'a volume that is on its way off, and may stick there, is detached',
    file: AGENT,
    edits: [["  if (volumes.length === 0) return 'closed';", "  if (volumes.every(({ status }) => status === 'detaching')) return 'closed';"]],
    killedBy: byTest(VOLUMES, 'reads an attachment that is "detaching" as pending'),
  },
  {
    name: 'aws-volume busy is closed',
    defect: 'a volume that its system does not let go is detached',
    file: ATTACHMENTS,
    edits: [["filter(({ status }) => status !== 'detached')", "filter(({ status }) => status !== 'detached' && status !== 'busy')"]],
    killedBy: byTest(VOLUMES, 'is not closed while a volume is stuck, and asks again for what is on its way'),
  },
  {
    name: 'aws-volume unknown word',
    defect: 'a word that nobody knows is a way to detached',
    file: AGENT,
    edits: [["  if (volumes.some(({ status }) => !isKnownStatus(status))) return 'unknown';\n", '']],
    killedBy: byTest(VOLUMES, 'reads an attachment that is "gone" as unknown'),
  },
  {
    name: 'aws-volume one witness',
    defect: 'what the instance still shows as attached is not heard',
    file: AGENT,
    edits: [['merged([...instance.volumes, ...shown])', 'merged(shown)']],
    killedBy: byTest(VOLUMES, 'is not closed while the instance itself still shows a volume that DescribeVolumes shows no more'),
  },
  {
    name: 'aws-volume other witness',
    defect: 'what DescribeVolumes shows and the instance does not is not heard',
    file: AGENT,
    edits: [['merged([...instance.volumes, ...shown])', 'merged(instance.volumes)']],
    killedBy: byTest(VOLUMES, 'is not closed while DescribeVolumes shows a volume that the instance shows no more'),
  },
  {
    name: 'aws-volume empty list',
    defect: 'a list that does not even show the root is whole, and what it leaves out is detached',
    file: AGENT,
    edits: [['  return mapped === listed ? mapped : undefined;', '  return mapped ?? listed ?? "";']],
    killedBy: byTest(VOLUMES, 'knows nothing by a list that does not even show the root, and sends nothing'),
  },
  {
    name: 'aws-volume first page',
    defect: 'only the first page of the volumes is read',
    file: AGENT,
    edits: [['      token = listed.nextToken;\n', '']],
    killedBy: byTest(VOLUMES, 'reads every page'),
  },
  {
    name: 'aws-volume takes the root',
    defect: 'the root is detached like any other volume',
    file: AGENT,
    edits: [['one.volume !== root && !isKept(one, this.#keep)', '!isKept(one, this.#keep)']],
    killedBy: byTest(VOLUMES, 'never detaches the root, whatever is written'),
  },
  {
    name: 'aws-volume takes the system',
    defect: 'a volume that was launched with the instance is taken from its system',
    file: AGENT,
    edits: [['volumes.find(({ endsWithInstance }) => endsWithInstance)', 'volumes.find(({ endsWithInstance }) => !endsWithInstance && false)']],
    killedBy: byTest(VOLUMES, 'touches nothing where a volume was launched with the instance and nobody said that it stays'),
  },
  {
    name: 'aws-volume keeps a claim',
    defect: 'a PersistentVolume stays attached, and counts as revoked with the others',
    file: AGENT,
    edits: [['volume !== root && persistentVolume !== undefined', 'volume === root && persistentVolume !== undefined']],
    killedBy: byTest(VOLUMES, 'does not keep what is a PersistentVolume by its tag: its pods would write on'),
  },
  {
    name: 'aws-volume graceful',
    defect: 'the volume is asked back from a system that failed',
    file: AGENT,
    edits: [[", Force: 'true' } };", ' } };']],
    killedBy: byTest(VOLUMES, 'detaches by force what is attached besides the root, and reads it back, a set in three requests'),
  },
  {
    name: 'aws-volume every instance',
    defect: 'an attachment to another instance keeps the volume from being detached from this one',
    file: ATTACHMENTS,
    edits: [
      [
        "filter((attachment) => textOf(attachment, 'instanceId') === instance)",
        "filter((attachment) => instance !== '' || attachment === undefined)",
      ],
    ],
    killedBy: byTest(VOLUMES, 'looks at the attachment to this instance alone, of a volume that is at several'),
  },
  {
    name: 'aws-volume one lease for all',
    defect: 'only the first of several volumes asks for the lease',
    file: AGENT,
    edits: [
      [
        '    for (const volume of view.volumes) outcomes.push(await this.#detach(call, view.id, volume));',
        '    let asked = false;\n    const once = (): void => {\n      if (!asked) call.target.beforeSend();\n      asked = true;\n    };\n    for (const volume of view.volumes) outcomes.push(await this.#detach(call, view.id, volume, once));',
      ],
      [
        '  #detach(call: Call, instance: string, volume: AttachedVolume): Promise<Outcome> {\n    const gate = (): void => call.target.beforeSend();',
        '  #detach(call: Call, instance: string, volume: AttachedVolume, gate: () => void): Promise<Outcome> {',
      ],
    ],
    killedBy: byTest(VOLUMES, 'asks for the lease in the turn of each send, and sends no more once it is lost'),
  },
  {
    name: 'undone by others',
    defect: 'a volume that the CSI driver attaches where its pod is stays on the list of what has to be taken back',
    file: 'src/dispatch/dispatcher.ts',
    edits: [['?.undoneByOthers !== true', "?.name !== ''"]],
    killedBy: byTest('src/dispatch/revocation.test.ts', 'leave nothing to be taken back where others open what was closed'),
  },
];

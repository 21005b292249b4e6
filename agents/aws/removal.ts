import type { Outcome, Removal } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { InstanceView } from '../shared/cloud/instance.ts';
import { repeated, sentOnce } from '../shared/cloud/repeat.ts';
import { changeIn, failureIn, instancesIn, isProtectedIn } from './answers.ts';
import type { Action, Ec2Api } from './ec2-api.ts';

/** Deletes the instance for good, sent once. Where it belongs to an Auto Scaling group the group is told, which puts another in its place. */
export async function removeInstance(call: Call, api: Ec2Api, instance: InstanceView): Promise<Outcome> {
  const { id, detail, group, cannotStart } = instance;
  if (cannotStart !== undefined) return { result: 'accepted', detail: `${detail}: nothing was sent` };
  if (group !== undefined) await demandUnprotected(call, api, id);
  const gate = (): void => call.target.beforeSend();
  return sentOnce(call, async () => {
    const answer = await api.ask(call, terminationOf(instance), gate);
    const by = group === undefined ? '' : ` by the Auto Scaling group ${group}`;
    if (answer.status === 200) return { result: 'accepted', detail: `${changeIn(answer.text) ?? 'HTTP 200'}${by}` };
    const failure = failureIn(answer.text);
    if (failure === undefined || answer.status >= 500)
      return { result: 'unclear', detail: `HTTP ${answer.status}${failure === undefined ? '' : `: ${failure.code}: ${failure.message}`}` };
    throw api.refusal(call, answer);
  });
}

/** An id is never given again: what EC2 does not know any more, after it was told to delete it, is gone. It shows it for about an hour. */
export async function removalOf(call: Call, api: Ec2Api): Promise<Removal> {
  const { plug } = call.target;
  const answer = await repeated(call, () => api.ask(call, { action: 'DescribeInstances', parameters: { 'InstanceId.1': plug } }));
  if (answer.status !== 200) {
    if (failureIn(answer.text)?.code === 'InvalidInstanceID.NotFound') return { isGone: true, detail: 'EC2 does not know it any more' };
    throw api.refusal(call, answer);
  }
  const listed = instancesIn(answer.text);
  if (listed === undefined) throw call.error('Unreachable', 'an answer that is none of EC2');
  const instance = listed.instances.find(({ id }) => id === plug);
  return instance === undefined ? { isGone: true, detail: 'EC2 shows it no more' } : { isGone: instance.isEnding, detail: instance.shown };
}

/**
 * EC2 API reference, "TerminateInstances"; EC2 Auto Scaling API reference, "TerminateInstanceInAutoScalingGroup": with the capacity kept as it is, the group launches
 * another. Terminated behind its back the instance would be replaced as well, but counted as unhealthy first.
 */
export function terminationOf({ id, group }: Pick<InstanceView, 'id' | 'group'>): Action {
  if (group === undefined) return { action: 'TerminateInstances', parameters: { 'InstanceId.1': id } };
  const parameters = { InstanceId: id, ShouldDecrementDesiredCapacity: 'false' };
  return { service: 'autoscaling', action: 'TerminateInstanceInAutoScalingGroup', parameters };
}

/** EC2 itself refuses to terminate what is protected; a group does not ask (EC2 user guide, "Change instance termination protection"). */
async function demandUnprotected(call: Call, api: Ec2Api, id: string): Promise<void> {
  const action = { action: 'DescribeInstanceAttribute', parameters: { InstanceId: id, Attribute: 'disableApiTermination' } };
  if (await api.read(call, action, isProtectedIn))
    throw call.error('Refused', 'nothing was sent: its termination protection (DisableApiTermination) is on; an admin has to switch it off');
}

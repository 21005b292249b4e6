import type { LawName } from './law.ts';

export interface LawStatement {
  title: string;
  /** The law in one sentence. */
  law: string;
  /** What it means, rule by rule. */
  rules: readonly string[];
  why: string;
  /** What the judge checks in the trace of a run. */
  checks: readonly string[];
  /** What the law demands and no trace shows; other tests hold it. */
  notSeen?: string;
  /** Beside this file. */
  file: string;
}

/** The eleven laws as docs/laws.md prints them. */
export const STATEMENTS: Readonly<Record<LawName, LawStatement>> = {
  P1: {
    title: 'Proof before release',
    law: 'Nothing of a failed node is released before evidence of an admitted kind shows that the node can no longer write.',
    rules: [
      'A release is: force-deleting or force-evicting a pod (grace period 0), setting the out-of-service taint, deleting a VolumeAttachment, deleting the Node.',
      'The kinds of evidence, what each proves and what it permits, are in the table below. `minimum_evidence` says which kinds are admitted.',
      'Never evidence: an exit code, an HTTP 2xx, an accepted task, elapsed time, a NotFound, a BMC that cannot be reached, a suspended instance.',
      'Each evidence records its kind, its witnesses, how the identity of the machine was checked, and when the device said it.',
    ],
    why: 'Two writers on one ReadWriteOnce volume destroy its data. A node that does not answer may still write.',
    checks: [
      'A NodeFence of the node exists at every release, except for a host that its BareMetalHost operator switched.',
      'For `power-off`: an off was sent to a device of the node after the fence began. Since the last command to it, every such device, and every device that the current level of the plan names, has read off at least three times in a row over `off_stable`. The true power of the machine was off from the proof to the release.',
      'A device that failed may be left out when a later level of the plan is proven off.',
      'Evidence `power-off`, from where a NodeFence shows it: every device of its level was told off since the fence began, and has read off as often and as long since the run that proved it was intended and since the last command to it. A read that was begun while the node was isolated is none of these.',
      'For `storage-revoked`: every path of the node was closed and read closed at least three times over `off_stable`; one that does not show whose it is was seen open by this fence before it closed it; only pods are released.',
      'For `ack`: a person made the acknowledgement, for this NodeFence, this incident and this boot, at most 15 minutes before it was accepted; no device read on afterwards.',
      'For `watchdog` and `kdump`: the plan admits the kind, a method of power management waited for it, and the machine went down or panicked after its last sign of life. `kdump` releases pods only.',
      'For a host that its BareMetalHost operator switched: our annotation asked for the off and still stood, the operator reported the host as off afterwards, we read that, and the true power was off.',
    ],
    file: 'p1-proof.ts',
  },
  P2: {
    title: 'Evidence expires',
    law: 'Any sign of life that is received after an evidence voids it.',
    rules: [
      'A sign of life is a renewed Lease of the node, a status update by its kubelet, or a power state on that we did not order. Our clock at receipt counts, not a time stamp in the object.',
      'A node that is asked to be isolated only (`spec.lastStep`) lives on without the storages that were read closed: for the pods on those, only another boot is a sign against the evidence.',
      'After the last off read and before the release, the Node and its Lease are read once more from the API server, not from a cache.',
      'When evidence is voided after a release began, no further pod is released, our taint is removed, nothing is switched on automatically, and a critical alarm names the pods.',
    ],
    why: 'A proof is about one moment. A person, a power restore policy or a second controller can start the machine again right after it.',
    checks: [
      "The node's kubelet wrote nothing between the evidence and the release, except where the node was asked to be isolated only, or, of a node whose storage was revoked, while the release was on its way: after the last reads of Node and Lease, at most two seconds before. After a sign of life, also one between the reads of a device, the evidence must be complete anew.",
      'The controller read the Node and its Lease (a GET each) between the evidence and the release.',
    ],
    file: 'p2-expiry.ts',
  },
  P3: {
    title: 'Order',
    law: 'Methods run one at a time, every off is verified before any on, and a tainted node is never started.',
    rules: [
      'The methods of a step run in the order in which they are written.',
      'The release stands between the last verified off and the first on: taint or delete, then wait at most `release_timeout` until no terminating pod and no VolumeAttachment is left.',
      'Then our out-of-service taint is removed and read back as absent, also when the wait timed out. Only then is the machine switched on.',
    ],
    why: 'A node that starts with half its pods terminating, or under a taint that evicts what it starts, fails again or runs a workload twice.',
    checks: [
      'At most one on or off is open in the journal of a NodeFence at any time.',
      'Before an on, every device of the node that accepted an off has read off since. Exceptions: a later level was proven off instead, or the off timed out, the device read on again, and nothing was released for its sake.',
      'At every on, and when the hold on a BareMetalHost ends, the Node has no out-of-service taint of ours.',
      'After a release, other than of pods whose storage was revoked, no terminating pod and no VolumeAttachment of the node is left at the on, or `release_timeout` is over.',
      'When the out-of-service taint is set, the power of the machine is off. Where the taint rests on evidence `watchdog`, P11 holds instead: a machine that was reset has its power on.',
    ],
    file: 'p3-order.ts',
  },
  P4: {
    title: 'Write ahead',
    law: 'The intent is stored in the NodeFence, and acknowledged by the API server, before a device is called.',
    rules: [
      "The write is a compare-and-swap on resourceVersion and uid. It names the leader's epoch, the device and the deadline.",
      'After a crash the deadline of an open intent is waited out, and the device is read before anything else is decided.',
      'An old intent is sent again only if a fresh decision still wants it, for the same Node UID, system UUID and boot ID, no hold stands, it is younger than `intent_max_age`, and `settle` has passed.',
      'A run that is not idempotent is never repeated.',
      'Each intent causes at most one edge: a change of power that is seen at the device.',
    ],
    why: 'A controller that crashes must leave behind what it may have done, or its successor switches off a machine that has just come back.',
    checks: [
      'At every set of a device, an open intent for this device, plug and action stands in a NodeFence. A call that was given up may still arrive until its deadline.',
      'No incident has more edges to off, or to on, than intents for it. Edges that follow a set of an earlier incident do not count.',
    ],
    file: 'p4-write-ahead.ts',
  },
  P5: {
    title: 'One fencer',
    law: 'Only the holder of a valid leader Lease sets a device.',
    rules: [
      'A set begins only if now plus its deadline lies within the Lease. A call is one short request with a deadline. Reads are free.',
      'A successor waits out the deadlines of open intents before it touches their devices.',
      'The next level of a plan, a takeover and every on wait `settle`, so that a late off cannot hit a machine that has recovered.',
      'An off that we did not order is put right (on, with an alarm) on a node without a trigger. A node with a trigger is fenced by an off of our own.',
    ],
    why: 'Two controllers that switch one machine undo each other, and the off of the slower one hits a recovered node.',
    checks: [
      'At every set somebody holds the leader Lease, and renewed it within its duration less one second.',
      'The epoch of the intent is that of the Lease.',
      'The session with the device was opened under the present holder of the Lease.',
      'An on comes no earlier than `settle` after the last off that was sent to the node.',
    ],
    file: 'p5-one-fencer.ts',
  },
  P6: {
    title: 'Holds win',
    law: 'After a stop or a hold, no new isolating call, off or release begins.',
    rules: [
      'A stop or a hold takes effect within two seconds. A stop survives restarts of the controller.',
      'Stops are read from the API server (not a cache) after the intent is acknowledged and before the call. If one stands, the intent ends as `stopped` and nothing is sent.',
      'Where dumps are waited for, no off begins while the kernel of the node dumps, as far as its messages have come: until none has come for `kdump_finished_timeout`, and at most `kdump_max_duration` after the first.',
      'Policies never block an on, an unfence or the removal of our taint. Only a stop of a person does, and what stays off is then reported as `LeftOff`.',
    ],
    why: 'A person who says stop, or a policy that sees a storm, knows more than the automaton. What brings a node back is safe.',
    checks: [
      'No off, no cordon and no release begins more than two seconds after a NodeFenceStop for the node, or for all nodes, was created.',
      'In the simulation: the first off of an incident is not sent while its sender has heard at least two kdump messages of the node since its last sign of life, within those times. A status that says that a dump holds the fence has a cause in the messages that came, and a first message is awaited for no longer than `kdump_start_timeout`, each with 15 s for a status that is late.',
      'Nor more than two seconds after the NodeFence itself first reported the hold. Exceptions: the release of another controller of this program whose lease on the node is that hold; the cordon of a remedy, which its mark tells, where the hold says that the fence goes no further than isolation.',
    ],
    file: 'p6-holds.ts',
  },
  P7: {
    title: 'Wrong configuration fails',
    law: 'A step whose configuration is wrong fails and says so; it never counts as done.',
    rules: [
      'Wrong is: an unknown agent, or a missing parameter, template or Secret.',
      '`nodefence validate` and the running controller find it before a node fails.',
      'The resolved plan is frozen in the NodeFence when the fence begins. Later edits change the next fence.',
    ],
    why: 'A step that is skipped quietly looks like a step that succeeded, and the release that follows rests on nothing.',
    checks: [
      'No device is set by a step that has an error in the frozen plan. What takes back, when a NodeFence is deleted, what it had left off is no step.',
      'The condition of such a step (`Isolated`, `PoweredOff`, `Recovered`) is never True.',
    ],
    notSeen: 'That the problem is reported with its place in the ConfigMap is held by the tests of `src/config` and `nodefence validate`.',
    file: 'p7-configuration.ts',
  },
  P8: {
    title: 'Undo only our own',
    law: 'What we changed is undone, all of it; what another set stays.',
    rules: [
      'Every cordon, taint, annotation and label of ours is marked as ours.',
      'Every edge that we caused is undone, or reported as `LeftOff`, before a fence is done or in error.',
    ],
    why: 'Uncordoning a node that an administrator cordoned hides their work; a taint that is left behind keeps a healthy node empty.',
    checks: [
      'No write of the controller removes or changes a cordon, taint, annotation or label on a Node that another put there. Marks of preservation are excepted: they follow annotations of users, and time.',
      'In state final nothing of ours is left on the Node and its power is on, unless the fence ended off on purpose or the machine is being deleted. Cordons and records of remedies are excepted: they stand until the recovery.',
      'In state error, and where the machine stays off on purpose, all that is left is listed in `status.restore`.',
    ],
    file: 'p8-undo.ts',
  },
  P9: {
    title: 'No secret leaves',
    law: 'No password and no token appears outside the Secret that holds it.',
    rules: ['Not in the arguments or environment of a process, in logs, Events, metrics, API objects or pages of the controller.'],
    why: 'The passwords of BMCs and switches can turn off a whole site. Logs and API objects are read by many.',
    checks: [
      'No write of the controller to the API server contains a password or token of the run, plain, as JSON text or in base64; nor does the object that it leaves behind, unless that is a Secret.',
      'Neither do its logs, what it serves as metrics and health, and the command lines and environments of its processes and of the programs that they start, looked at ten times a second.',
    ],
    file: 'p9-secrets.ts',
  },
  P10: {
    title: 'Never saw off its own branch',
    law: "The right machine is switched off, and never the controller's own or the last quorum.",
    rules: [
      'The identity of the machine is read over the same session that sends the off, and compared with what the NodeFenceReport recorded while the node was healthy.',
      'The controller never fences its own node. It hands over to a replica elsewhere; without one it keeps leading and alarms.',
      'A Job never runs on the node that it fences, unless `runOn: target` says so.',
      'A controller that is cut off itself judges no other node.',
      'The last quorum of the control plane is never fenced; the dead member counts as lost.',
    ],
    why: 'A wrong address in a ConfigMap switches off a healthy machine. A controller that switches itself off finishes nothing.',
    checks: [
      'The machine that a device really switches is the one for which the intent was written.',
      'No off goes to a node of a controller.',
      'Before every off, the device showed the identity of the machine over the same session; devices that have none are excepted.',
    ],
    notSeen: 'Quorum, isolation of the controller and `runOn` are held by the tests of the storm policies and of the agent `job`.',
    file: 'p10-own-branch.ts',
  },
  P11: {
    title: 'Silence is the end',
    law: 'No evidence `watchdog` counts while any process of the workload may still write.',
    rules: [
      'The evidence speaks of one boot of a node. Every process of the workload that was started in that boot has ended by then: its pod was stopped, or the machine was reset, panicked or lost its power.',
      'A process that is paused has not ended: it writes when it goes on. So the watchdog of a machine that can be paused proves nothing.',
      'Nobody keeps that boot alive after its grants were ended, however late the grant or vouch is on its way.',
    ],
    why: 'Nothing reads back that a watchdog has reset its machine. What is concluded from the time that has passed must be true without exception.',
    checks: [
      'When a NodeFence first shows evidence `watchdog`, and at every release that rests on it, no pod runs that was started on the node in the boot for which the wait began.',
      'No such pod writes to a volume afterwards.',
    ],
    notSeen:
      'How long a node may live on without a word from anybody is computed in one place ([node-daemon.md](node-daemon.md)); the judge knows none of these times.',
    file: 'p11-silence.ts',
  },
};

export interface EvidenceStatement {
  kind: string;
  /** Who vouches for it. */
  grade: 'read-back' | 'person' | 'inferred';
  proves: string;
  needs: string;
}

/** Every kind of evidence (P1). */
export const EVIDENCE: readonly EvidenceStatement[] = [
  {
    kind: 'power-off',
    grade: 'read-back',
    proves: 'nothing runs on the machine',
    needs:
      'our own off after the fence began; then off, by the exact token, in at least 3 reads over `off_stable` (3 s), of every declared supply in one uninterrupted pass, with a second witness (chassis, outlet current) where the device has one',
  },
  {
    kind: 'instance-stopped',
    grade: 'read-back',
    proves: 'the same, for an instance of a cloud',
    needs: 'the same instance id stopped or terminated, as told by a control plane whose own agent on that host is alive, newer than our call',
  },
  {
    kind: 'host-off',
    grade: 'read-back',
    proves: 'the same, for the virtual machines of a host',
    needs: 'the `power-off` of the hypervisor or chassis, with the placement fixed',
  },
  {
    kind: 'storage-revoked',
    grade: 'read-back',
    proves: 'no writes to the named storages',
    needs:
      'all declared paths revoked, and read back from the side of the storage or switch; releases only pods all of whose writable volumes are on these storages; never deletes a VolumeAttachment; ends before a blocklist entry expires',
  },
  {
    kind: 'booted-anew',
    grade: 'inferred',
    proves: 'the old processes are gone',
    needs: 'another boot ID under the same Node UID, system UUID and providerID; permits graceful deletion only, never grace period 0 or the taint',
  },
  {
    kind: 'ack',
    grade: 'person',
    proves: 'an operator saw it',
    needs: 'one use, for one NodeFence UID, incident and boot ID, within 15 minutes; refused while any device reads on',
  },
  {
    kind: 'watchdog',
    grade: 'inferred',
    proves: 'the machine reset itself',
    needs: 'to be admitted by name; a hardware watchdog that was attested as armed beforehand, and more time without a sign of life than it takes',
  },
  {
    kind: 'kdump',
    grade: 'inferred',
    proves: 'the old kernel stopped',
    needs: 'to be admitted by name; at least 2 messages of the dumping kernel, the Node not Ready and its Lease stale; releases pods only',
  },
];

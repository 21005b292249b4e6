import { describe, expect, it } from 'vitest';
import { readHealthCheck } from '../../src/controllers/machine-health-check/read/health-check.ts';
import { externalFleet, fleet, setNode } from './fleet.ts';
import { ago, checkObject, machineObject, NAMESPACE, nodeConditionsOf, requestObject, TEMPLATE_REF, templateObject } from './objects.ts';

const OWNER = 'OwnerRemediated';
const EXTERNAL = 'ExternallyRemediated';
const SUCCEEDED = 'HealthCheckSucceeded';
const LISTS = ['v1beta2', 'v1beta1'] as const;

describe('by the owner', () => {
  it.each(LISTS)('is asked for in the conditions that owners read, where Machines are of %s', (version) => {
    const world = fleet({ a: 'failed' }, { version });
    world.settle();
    expect(world.condition('a', OWNER, 'v1beta2')).toMatchObject({
      status: 'False',
      reason: 'WaitingForRemediation',
      message: 'Waiting for remediation',
    });
    const older = {
      type: OWNER,
      status: 'False',
      reason: 'WaitingForRemediation',
      severity: 'Warning',
      lastTransitionTime: expect.any(String) as string,
    };
    expect(world.condition('a', OWNER, 'v1beta1')).toEqual(version === 'v1beta1' ? older : undefined);
    expect(world.condition('a', SUCCEEDED, 'v1beta1')).toMatchObject({ status: 'False', severity: 'Warning' });
  });

  it('is asked for in the one list that an older Cluster API has', () => {
    const world = fleet({ a: 'failed' }, { version: 'v1beta1', served: { hasBothLists: false } });
    world.settle();
    expect(world.machine('a').conditions).toMatchObject({ v1beta2: [], v1beta1: [{ type: SUCCEEDED }, { type: OWNER }] });
    expect(JSON.stringify(world.machines)).not.toContain('"v1beta2":{"conditions":[{');
  });

  it('is asked for in the list in which it is missing', () => {
    const condition = { type: OWNER, status: 'False' as const, reason: 'InProgress', lastTransitionTime: ago(60) };
    const world = fleet({ a: 'failed' }, { version: 'v1beta1', parts: { a: { conditions: [condition] } } });
    world.settle();
    expect(world.condition('a', OWNER, 'v1beta2')).toEqual(condition);
    expect(world.condition('a', OWNER, 'v1beta1')).toMatchObject({ reason: 'WaitingForRemediation' });
  });

  it('is asked for anew when the last one is over and the machine fails again', () => {
    const conditions = [{ type: OWNER, status: 'True' as const, reason: 'Remediated', lastTransitionTime: ago(6_000) }];
    const world = fleet({ a: 'failed' }, { version: 'v1beta1', parts: { a: { conditions, deprecated: conditions } } });
    world.settle();
    expect(LISTS.map((list) => world.condition('a', OWNER, list)?.status)).toEqual(['False', 'False']);
  });

  it('is never asked for of a machine that is being deleted', () => {
    const world = fleet({ a: 'failed' }, { parts: { a: { isDeleting: true } } });
    world.settle();
    expect(world.condition('a', SUCCEEDED)?.status).toBe('False');
    expect(world.condition('a', OWNER)).toBe(undefined);
  });

  it('is told by an event that names machine and check', () => {
    const world = fleet({ a: 'failed' });
    world.settle();
    const [event] = world.done.flatMap(({ events = [] }) => events);
    expect(event).toEqual({
      type: 'Normal',
      reason: 'MachineMarkedUnhealthy',
      message: 'Machine default/a has been marked as unhealthy by default/mhc',
    });
  });

  it('of a machine without one is told to be nobody’s, and taken back when it recovers', () => {
    const world = fleet({ a: 'failed' }, { parts: { a: { owners: [] } } });
    world.settle();
    expect(world.events()).toEqual(['MachineMarkedUnhealthy', 'NoOwnerToRemediate']);
    setNode(world, 'a', 'well');
    world.settle();
    expect(LISTS.map((list) => world.condition('a', OWNER, list))).toEqual([undefined, undefined]);
  });

  it('is left to the owner to take back', () => {
    const world = fleet({ a: 'failed' });
    world.settle();
    setNode(world, 'a', 'well');
    world.settle();
    expect(world.condition('a', SUCCEEDED)?.status).toBe('True');
    expect(world.condition('a', OWNER)?.status).toBe('False');
  });

  it('waits while somebody else has the node, and says who', () => {
    const world = fleet({ a: 'failed' }, { holders: new Map([['uid-a', 'NodeFence node-fence-a']]) });
    const { views, notices } = world.settle();
    const why = 'its node belongs to NodeFence node-fence-a';
    expect(views[0]?.waiting).toEqual([{ machine: 'a', why, holder: 'NodeFence node-fence-a' }]);
    const message = `Machine default/a is not remediated yet: ${why}`;
    expect(notices).toEqual([
      { target: expect.objectContaining({ name: 'a' }) as object, event: { type: 'Normal', reason: 'RemediationBlocked', message } },
    ]);
    expect(world.condition('a', OWNER)).toBe(undefined);
  });
});

describe('an external remediation', () => {
  it('is a request with the name and namespace of the machine, made of the template and owned by the machine', () => {
    const template = templateObject({
      metadata: { labels: { tier: 'gold' }, annotations: { note: 'n' }, finalizers: ['stays/behind'], ownerReferences: [{}] },
      spec: { strategy: 'escalate', deleteAfterRetries: 10 },
    });
    const world = externalFleet({ a: 'failed' }, { templates: [template] });
    world.settle();
    expect(world.requests).toEqual([
      {
        apiVersion: 'remediation.example.io/v1',
        kind: 'PowerCycle',
        metadata: {
          name: 'a',
          namespace: NAMESPACE,
          uid: 'uid-request-a',
          labels: { tier: 'gold', 'cluster.x-k8s.io/cluster-name': 'c1' },
          annotations: {
            note: 'n',
            'cluster.x-k8s.io/cloned-from-name': 'cycle',
            'cluster.x-k8s.io/cloned-from-groupkind': 'PowerCycleTemplate.remediation.example.io',
          },
          ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'a', uid: 'uid-a' }],
        },
        spec: { strategy: 'escalate', deleteAfterRetries: 10 },
      },
    ]);
    expect(world.events()).toEqual(['MachineMarkedUnhealthy']);
  });

  it('may be made of an empty template', () => {
    const world = externalFleet({ a: 'failed' }, { templates: [{ ...templateObject(), spec: {} }] });
    world.settle();
    expect(world.requestNames()).toEqual(['a']);
  });

  it('is asked for of every unhealthy machine, whatever stands before it in the list', () => {
    const world = externalFleet({ a: 'failed', b: 'failed', c: 'gone' }, { requests: [requestObject('a')] });
    world.settle();
    expect(world.requestNames()).toEqual(['a', 'b', 'c']);
  });

  it('is all that is asked for: the owner is not', () => {
    const world = externalFleet({ a: 'failed' });
    world.settle();
    expect(world.condition('a', OWNER)).toBe(undefined);
    expect(world.condition('a', EXTERNAL)).toMatchObject({ status: 'False', reason: 'WaitingForRemediation' });
  });

  it('is said to be awaited before it is asked for, so that what the remediator says is never written over', () => {
    const world = externalFleet({ a: 'failed' });
    const ofMachine = world.decide().actions.filter(({ target }) => target.name === 'a');
    expect(ofMachine.map(({ kind }) => kind)).toEqual(['machine-status', 'create-request']);
    world.settle();
    const said = { type: EXTERNAL, status: 'True' as const, reason: 'PowerCycled', lastTransitionTime: ago(1) };
    world.editMachine('a', { status: { conditions: [said] } });
    world.settle();
    expect(world.condition('a', EXTERNAL)).toEqual(said);
  });

  it('is left alone for as long as the machine is unhealthy, and taken away when it is healthy', () => {
    const world = externalFleet({ a: 'failed' });
    world.settle();
    setNode(world, 'a', 'pending');
    expect(world.settle().actions).toEqual([]);
    expect(world.requestNames()).toEqual(['a']);
    setNode(world, 'a', 'well');
    world.settle();
    expect(world.requestNames()).toEqual([]);
    expect(world.condition('a', SUCCEEDED)).toMatchObject({ status: 'True' });
    expect(world.condition('a', EXTERNAL)).toBe(undefined);
  });

  it('that is being deleted is neither deleted again nor made again', () => {
    const world = externalFleet(
      { a: 'failed', b: 'well' },
      { requests: [requestObject('a', { isDeleting: true }), requestObject('b', { isDeleting: true })] },
    );
    const { views } = world.settle();
    expect(world.kinds()).not.toContain('create-request');
    expect(world.kinds()).not.toContain('delete-request');
    expect(views[0]?.inFlight).toBe(2);
  });

  it('clears a failed check of a machine that recovered before it was asked for', () => {
    const world = externalFleet({ a: 'failed' }, { templates: [] });
    world.settle();
    setNode(world, 'a', 'well');
    world.settle();
    expect(LISTS.map((list) => world.condition('a', SUCCEEDED, list)?.status)).toEqual(['True', 'True']);
    expect(world.condition('a', EXTERNAL)).toBe(undefined);
  });

  it('without its template is told of before any machine fails, and is asked for when the template comes', () => {
    const world = externalFleet({ a: 'well' }, { templates: [] });
    expect(world.settle().problems).toEqual(['MachineHealthCheck default/mhc: PowerCycleTemplate default/cycle not found']);
    const available = (): unknown => world.checkCondition('mhc', 'ExternalRemediationTemplateAvailable', 'v1beta1');
    expect(available()).toMatchObject({ status: 'False', severity: 'Error', reason: 'ExternalRemediationTemplateNotFound' });
    setNode(world, 'a', 'failed');
    expect(world.settle().views[0]?.waiting).toEqual([
      { machine: 'a', why: 'Error retrieving remediation template PowerCycleTemplate default/cycle' },
    ]);
    expect(world.condition('a', EXTERNAL)).toMatchObject({ reason: 'RemediationTemplateNotFound' });
    world.templates = [templateObject()];
    world.settle();
    expect(available()).toMatchObject({ status: 'True' });
    expect(world.condition('a', EXTERNAL)).toMatchObject({ reason: 'WaitingForRemediation' });
    expect(world.requestNames()).toEqual(['a']);
  });

  it('that the API server refuses is told with its words, and tried again', () => {
    const world = externalFleet({ a: 'failed' }, { refusals: new Map([['uid-a', 'quota exceeded']]) });
    const { actions } = world.decide();
    expect(actions.map(({ kind }) => kind)).toContain('create-request');
    for (const action of actions.filter(({ kind }) => kind !== 'create-request')) world.apply(action);
    for (const action of world.decide().actions.filter(({ kind }) => kind === 'check-status')) world.apply(action);
    expect(world.condition('a', EXTERNAL)).toMatchObject({ status: 'False', reason: 'RemediationRequestCreationFailed', message: 'quota exceeded' });
    expect(world.checkCondition('mhc', 'ExternalRemediationRequestAvailable', 'v1beta1')).toMatchObject({
      status: 'False',
      reason: 'ExternalRemediationRequestCreationFailed',
      message: 'quota exceeded',
    });
    expect(world.decide().actions.map(({ kind }) => kind)).toEqual(['create-request']);
    world.settle();
    expect(world.condition('a', EXTERNAL)).toMatchObject({ reason: 'WaitingForRemediation', message: '' });
  });

  it('of a machine that had the same name before is not taken for this one’s, nor deleted', () => {
    const world = externalFleet(
      { a: 'failed', b: 'well' },
      { requests: [requestObject('a', { ownerUID: 'uid-before' }), requestObject('b', { ownerUID: 'uid-before' })] },
    );
    const { views } = world.settle();
    expect(views[0]).toMatchObject({ inFlight: 0, waiting: [{ machine: 'a', why: 'PowerCycle default/a belongs to something else' }] });
    expect(world.requestNames()).toEqual(['a', 'b']);
  });

  it.each(['PowerCycle', 'PowerCycleTemplate'])('is not asked for while objects of kind %s are not read yet', (kind) => {
    const world = externalFleet({ a: 'failed' }, { templates: [], unknownKinds: new Set([`${TEMPLATE_REF.apiVersion} ${kind}`]) });
    const { views, problems } = world.settle();
    expect(views[0]?.waiting).toEqual([{ machine: 'a', why: 'its template, or the requests of that kind, are not read yet' }]);
    expect([world.requestNames(), problems]).toEqual([[], []]);
  });

  it('of a machine that is being deleted is asked for while its node stands, and not when it is gone', () => {
    const world = externalFleet({ a: 'failed', b: 'gone' }, { parts: { a: { isDeleting: true }, b: { isDeleting: true } } });
    const { views } = world.settle();
    expect(world.requestNames()).toEqual(['a']);
    expect(views[0]?.waiting).toEqual([{ machine: 'b', why: 'it is being deleted and has no node' }]);
  });

  it('waits while somebody else has the node', () => {
    const world = externalFleet({ a: 'failed' }, { holders: new Map([['uid-a', 'NodeFence node-fence-a']]) });
    expect(world.settle().views[0]?.waiting).toHaveLength(1);
    expect(world.requestNames()).toEqual([]);
  });

  it('may be a kind of the seed, under a check of the seed’s shape', () => {
    const reference = { apiVersion: 'remediation.metal3.io/v1alpha3', kind: 'Metal3RemediationTemplate', name: 'm3' };
    const unhealthyConditions = [{ type: 'Ready', status: 'Unknown', timeout: '5m' }];
    const spec = { strategy: 'escalate', deleteAfterRetries: 10, powerOnTimeoutSeconds: 600, powerOffTimeoutSeconds: 120 };
    const world = fleet(
      {},
      {
        hasClusters: false,
        checks: [checkObject('mhc', { unhealthyConditions, externalRemediationTemplate: reference }, 'v1alpha3')],
        machines: [machineObject('a', { clusterName: null })],
        nodes: { 'node-of-a': nodeConditionsOf('Unknown', 400) },
        templates: [{ ...reference, metadata: { name: 'm3', namespace: NAMESPACE, uid: 'uid-m3' }, spec: { template: { spec } } }],
      },
    );
    world.settle();
    expect(world.requests).toMatchObject([
      { apiVersion: reference.apiVersion, kind: 'Metal3Remediation', metadata: { name: 'a', namespace: NAMESPACE }, spec },
    ]);
    expect(world.requests[0]?.metadata.labels).toEqual({});
  });
});

describe('at once', () => {
  const failed = { a: 'failed', b: 'failed', c: 'failed', d: 'well' } as const;

  it.each([
    ['the settings', { maxInFlight: 1 }, 1],
    ['an annotation of the check', { maxInFlight: 1, annotations: { 'ha.k8s.io/max-in-flight': '2' } }, 2],
    ['a part of its machines, rounded up', { annotations: { 'ha.k8s.io/max-in-flight': '30%' } }, 2],
  ])('no more machines are remediated than %s admit', (_what, options, count) => {
    const world = externalFleet(failed, options);
    const { views } = world.settle();
    expect(world.requestNames()).toHaveLength(count);
    expect(views[0]).toMatchObject({ inFlight: count, failed: 3 });
    expect(views[0]?.waiting[0]?.why).toBe('the limit of machines in remediation at once is reached');
  });

  it('the marked ones come first, then those that failed first, and the next when there is place', () => {
    const world = externalFleet(failed, { maxInFlight: 1, parts: { c: { annotations: { 'cluster.x-k8s.io/remediate-machine': '' } } } });
    world.nodes = { ...world.nodes, 'node-of-b': nodeConditionsOf('Unknown', 900) };
    const order: string[][] = [];
    for (const next of ['c', 'b', 'a']) {
      world.settle();
      order.push(world.requestNames());
      world.editMachine(next, { metadata: { annotations: { 'cluster.x-k8s.io/remediate-machine': null } } });
      setNode(world, next, 'well');
    }
    expect(order).toEqual([['c'], ['b'], ['a']]);
  });

  it('owners are asked under the same limit', () => {
    const world = fleet(failed, { maxInFlight: 2 });
    expect(world.settle().views[0]).toMatchObject({ inFlight: 2, waiting: [{ machine: 'c' }] });
    expect(['a', 'b', 'c'].map((name) => world.condition(name, OWNER)?.status)).toEqual(['False', 'False', undefined]);
  });

  it('a machine without a controller holds no place: nobody would ever give it back', () => {
    const world = fleet(failed, { maxInFlight: 1, parts: { a: { owners: [] } } });
    expect(world.settle().views[0]).toMatchObject({ inFlight: 1, waiting: [{ machine: 'c' }] });
    expect(['a', 'b', 'c'].map((name) => world.condition(name, OWNER)?.status)).toEqual(['False', 'False', undefined]);
  });

  it('nor does one whose remediator has handed it to the owner that it does not have, though its request stands', () => {
    const handed = { type: OWNER, status: 'False' as const, reason: 'WaitingForRemediation', lastTransitionTime: ago(60) };
    const parts = { a: { owners: [], conditions: [handed] }, b: { conditions: [handed] } };
    const world = externalFleet(failed, { maxInFlight: 2, parts, requests: [requestObject('a'), requestObject('b')] });
    expect(world.settle().views[0]).toMatchObject({ inFlight: 2 });
    expect(world.requestNames()).toEqual(['a', 'b', 'c']);
  });

  it('nor is its place taken by words of an earlier template that are mended', () => {
    const words = [
      { type: OWNER, status: 'False' as const, reason: 'WaitingForRemediation', lastTransitionTime: ago(60) },
      { type: 'ExternallyRemediated', status: 'False' as const, reason: 'RemediationTemplateNotFound', lastTransitionTime: ago(60) },
    ];
    const world = externalFleet(failed, { maxInFlight: 1, parts: { a: { owners: [], conditions: words } }, requests: [requestObject('a')] });
    const { views, actions } = world.decide();
    expect(views[0]).toMatchObject({ inFlight: 1 });
    expect(actions.filter(({ kind }) => kind === 'create-request').map(({ target }) => target.name)).toEqual(['b']);
  });

  it('one that nobody remediated holds one again from when somebody is asked', () => {
    const handed = { type: OWNER, status: 'False' as const, reason: 'WaitingForRemediation', lastTransitionTime: ago(60) };
    const world = externalFleet(failed, { maxInFlight: 1, parts: { a: { owners: [], conditions: [handed] } } });
    expect(world.settle().views[0]).toMatchObject({ inFlight: 1 });
    expect(world.requestNames()).toEqual(['a']);
    expect(world.condition('a', OWNER)).toBe(undefined);
  });
});

describe('a write', () => {
  it('is refused when the object is another by then: it names uid and resourceVersion of what was decided on', () => {
    const { actions } = fleet({ a: 'failed' }).decide();
    expect(actions.map(({ kind }) => kind)).toEqual(['machine-status', 'check-metadata']);
    for (const action of actions) expect(action).toMatchObject({ patch: { metadata: { uid: action.target.uid, resourceVersion: '1' } } });
  });

  it('keeps every condition of others as it stands', () => {
    const others = [
      { type: 'Ready', status: 'True' as const, reason: 'Ready', message: 'm', lastTransitionTime: ago(9), observedGeneration: 7 },
      { type: 'Available', status: 'False' as const, reason: 'X', lastTransitionTime: ago(8) },
    ];
    const world = fleet({ a: 'failed' }, { parts: { a: { conditions: others, deprecated: others } } });
    world.settle();
    for (const list of LISTS) expect(world.machine('a').conditions[list].slice(0, 2)).toEqual(others);
  });

  it('moves the time of a condition with its status, in the deprecated list with every change', () => {
    const world = fleet({ a: 'failed' });
    world.settle();
    const before = LISTS.map((list) => world.condition('a', SUCCEEDED, list)?.lastTransitionTime);
    world.pass(1_000);
    setNode(world, 'a', 'gone');
    world.settle();
    expect(world.condition('a', SUCCEEDED, 'v1beta2')).toMatchObject({ reason: 'NodeDeleted', lastTransitionTime: before[0], observedGeneration: 1 });
    expect(world.condition('a', SUCCEEDED, 'v1beta1')?.lastTransitionTime).not.toBe(before[1]);
  });

  it('of the check tells everything that a reader of its status looks for', () => {
    const world = fleet({ a: 'failed', b: 'well' });
    world.settle();
    expect(world.status('mhc')).toMatchObject({
      expectedMachines: 2,
      currentHealthy: 1,
      remediationsAllowed: 1,
      observedGeneration: 1,
      targets: ['a', 'b'],
    });
    const { check } = readHealthCheck(world.checks[0]!, { hasBothLists: true });
    expect(check.status.conditions.v1beta2.map(({ type, status }) => [type, status])).toEqual([
      ['RemediationAllowed', 'True'],
      ['Paused', 'False'],
    ]);
    expect(check.status.conditions.v1beta1).toMatchObject([{ type: 'RemediationAllowed', status: 'True' }]);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';

import { nodeDaemon } from '../../../agents/node-daemon/definition.ts';
import { attestationName, ORDERED, parseOrdered } from '../../../src/domain/node-daemon/attestation.ts';
import { CONTROLLERS } from '../../../src/domain/node-daemon/controllers.ts';
import type { OrderedAction } from '../../../src/domain/node-daemon/order.ts';
import { seal } from '../../../src/domain/node-daemon/seal.ts';
import { AgentError } from '../../../src/ports/agents.ts';
import type { ActionAgent, Outcome, Target } from '../../../src/ports/agents.ts';
import { LEASES } from '../../../src/ports/resources.ts';
import { keyOf, macOf } from '../../../src/testbed/simulation/keys.ts';
import type { MachineModel } from '../model/world.ts';
import { ControllerWorld, NAMESPACE } from './world.ts';
import type { Replica } from './world.ts';

const ID = '76543210-aaaa-4bbb-8ccc-ddddeeeeffff';
const UUID = '1e2d3c4b-0000-4000-8000-00000000abcd';

describe('orders to a node daemon', { timeout: 30_000 }, () => {
  let world: ControllerWorld;
  let leader: Replica;
  let executed: string[];
  let gates: number;
  let refusal: AgentError | undefined;

  beforeEach(async () => {
    world = await ControllerWorld.create();
    leader = world.replica('controller-1');
    executed = [];
    gates = 0;
    refusal = undefined;
  });

  async function started(takesMs: number | 'not at all' = 1_000): Promise<MachineModel> {
    const execute = async (action: OrderedAction) => {
      executed.push(action);
      await world.clock.sleep(Number(takesMs));
      return { isDone: true, words: `${action} was carried out` };
    };
    const machine = await world.add('a', {}, takesMs === 'not at all' ? {} : { executor: { execute } });
    await machine.daemon.start();
    await world.run(45_000);
    expect(machine.isArmed).toBe(true);
    return machine;
  }

  async function agentOf(replica = leader): Promise<ActionAgent> {
    const agent = await nodeDaemon.create({ cluster: world.operator, clock: world.clock, namespace: NAMESPACE, orders: replica.controller });
    if (agent.kind !== 'action') throw new Error('not an action');
    return agent;
  }

  function target(action: OrderedAction, change: Partial<Target> = {}): Target {
    return {
      plug: '',
      device: '',
      parameters: { action },
      identity: { node: 'a', systemUUID: UUID },
      signal: new AbortController().signal,
      deadlineMs: 30_000,
      intent: `soft-${ID}`,
      incident: 'fence/1',
      beforeSend: () => {
        gates += 1;
        if (refusal !== undefined) throw refusal;
      },
      ...change,
    };
  }

  async function result(running: Promise<Outcome>, ms = 35_000): Promise<string> {
    let said = 'still under way';
    running.then(
      ({ result: is, detail, evidence }) => (said = `${is}: ${detail}${evidence === undefined ? '' : `, evidence ${evidence.kind}`}`),
      (error: unknown) => (said = error instanceof AgentError ? `${error.kind}: ${error.facts.answered}` : String(error)),
    );
    for (let over = 0; over < ms && said === 'still under way'; over += 500) await world.run(500);
    return said;
  }

  const counted = (): string[] =>
    [...leader.counts.keys()].filter((name) => name.startsWith('ordered ')).map((name) => `${name.slice(8)} ${leader.counts.get(name)}`);
  const ordersSent = (): number => world.sent.filter(({ datagram }) => datagram.type === 'order').length;

  it('are carried out, attested, told as an Event, and prove nothing', async () => {
    const machine = await started();
    const agent = await agentOf();
    expect(await result(agent.run(target('restart-kubelet')))).toBe(
      'accepted: the daemon says: restart-kubelet was carried out; that proves nothing',
    );
    expect(executed).toEqual(['restart-kubelet']);
    expect(gates, 'each send asks').toBe(ordersSent());
    expect((await world.attestation('a'))?.orders).toEqual([
      { id: ID, action: 'restart-kubelet', state: 'done', words: 'restart-kubelet was carried out' },
    ]);
    expect(parseOrdered(await world.lease('a'))).toEqual({ id: ID, action: 'restart-kubelet', bootID: machine.bootID, incident: 'fence/1' });
    expect(world.events).toEqual(['a Warning SoftFenceOrdered nodefence ordered the daemon of node a to restart-kubelet.']);
    expect(machine.daemon.status().orders).toMatchObject([{ action: 'restart-kubelet', state: 'done' }]);
    await world.run(3_000);
    expect((await world.report('a'))?.status?.conditions?.[0]?.message).toContain('Last order in this boot: restart-kubelet, done.');
    expect(ordersSent(), 'none is sent once it was answered').toBe(gates);
    expect([machine.isDead, machine.isArmed], 'what keeps the node up goes on').toEqual([false, true]);
    expect(nodeDaemon.evidence).toBeUndefined();
    expect(counted()).toEqual(['restart-kubelet given 1', 'restart-kubelet done 1']);
  });

  it('are done once, however often and by whomever they come', async () => {
    const machine = await started();
    const agent = await agentOf();
    await result(agent.run(target('restart-kubelet')));
    expect(await result(agent.run(target('restart-kubelet'))), 'a successor with the same run').toContain('accepted');
    machine.kill();
    machine.restart();
    await machine.daemon.start();
    await world.run(35_000);
    expect(await result(agent.run(target('restart-kubelet')))).toContain('accepted');
    expect(executed).toEqual(['restart-kubelet']);
  });

  it('are refused in words by a daemon that was not started with --soft-fence', async () => {
    await started('not at all');
    const said = await result((await agentOf()).run(target('reboot')));
    expect(said).toBe('Refused: the daemon refused: the daemon of this node was not started with --soft-fence');
    expect(counted()).toEqual(['reboot given 1', 'reboot refused not-opted-in 1']);
  });

  it('of a leader that was paused are not obeyed once a later one was heard', async () => {
    const machine = await started();
    const next = world.replica('controller-2', { isLeading: false });
    await world.run(60_000);
    next.lead();
    leader.leadership.isLeading = false;
    await world.run(5_000);
    const say = (epoch: number, id: string): void => {
      const [last] = world.sent.filter(({ from, datagram }) => from === 'a' && datagram.type === 'heartbeat').slice(-1);
      const { counter } = last!.datagram;
      const order = { type: 'order' as const, counter, signs: epoch, sender: CONTROLLERS, subject: 'a', subjectBootID: machine.bootID };
      const bytes = seal({ ...order, order: { id, action: 'reboot' } }, macOf(keyOf('key-1'), keyOf('a')));
      world.socket('late', 'late:7411').send('a:7411', bytes);
    };
    say(1, ID);
    await world.run(2_000);
    expect(machine.daemon.status().orders?.at(-1)).toMatchObject({
      state: 'refused',
      words: 'it comes from a leader of term 1, and one of term 2 was heard since',
    });
    expect(executed).toEqual([]);
    say(2, ID.replace('7', '8'));
    await world.run(2_000);
    expect(executed, 'the same by the leader of today').toEqual(['reboot']);
  });

  it('that were recorded and come later, or were meant for another boot, are not obeyed', async () => {
    const machine = await started();
    const heartbeats = world.sent.filter(({ from, datagram }) => from === 'a' && datagram.type === 'heartbeat');
    const say = (counter: number, subjectBootID: string, id: string, key = 'key-1'): void => {
      const order = { type: 'order' as const, counter, signs: 1, sender: CONTROLLERS, subject: 'a', subjectBootID };
      const bytes = seal({ ...order, order: { id, action: 'reboot' } }, macOf(keyOf(key), keyOf('a')));
      world.socket('late', 'late:7411').send('a:7411', bytes);
    };
    const before = heartbeats.at(-8)!.datagram.counter;
    const now = heartbeats.at(-1)!.datagram.counter;
    say(before, machine.bootID, ID);
    say(now, UUID, ID.replace('7', '8'));
    say(now, machine.bootID, ID.replace('7', '9'), 'key-of-nobody');
    await world.run(1_000);
    expect(machine.daemon.status().orders?.map(({ words }) => words.slice(0, 30))).toEqual([
      'it answers no heartbeat of the',
      'it is for another boot of this',
    ]);
    expect(executed).toEqual([]);
  });

  it('are not sent where the run may not begin, and no more once somebody said no', async () => {
    await started();
    refusal = new AgentError('NotSent', { device: '', plug: '', asked: 'x', answered: 'NodeFenceStop all is active' });
    expect(await result((await agentOf()).run(target('reboot')))).toBe('NotSent: NodeFenceStop all is active');
    expect([ordersSent(), executed.length, world.events.length]).toEqual([0, 0, 0]);
    expect(counted()).toEqual(['reboot not-sent 1']);
  });

  it('are not sent by a replica that does not lead', async () => {
    await started();
    const standby = world.replica('controller-2', { isLeading: false });
    await world.run(15_000);
    expect(await result((await agentOf(standby)).run(target('reboot')))).toMatch(/^NotSent/);
    expect((await world.lease('a')).metadata.annotations?.[ORDERED]).toBeUndefined();
  });

  it('are not sent by a replica that leads no more once they are written', async () => {
    await started();
    // Between two heartbeats.
    await world.run(300);
    const running = (await agentOf()).run(target('reboot'));
    await world.run(20, 10);
    expect([parseOrdered(await world.lease('a'))?.action, ordersSent()]).toEqual(['reboot', 0]);
    leader.leadership.isLeading = false;
    expect(await result(running)).toBe('NotSent: it could not be sent: no heartbeat came that this leader may answer');
    expect([ordersSent(), executed]).toEqual([0, []]);
  });

  it('to a node that is not heard fail within seconds', async () => {
    const machine = await started();
    machine.kill();
    await world.run(10_000);
    expect(await result((await agentOf()).run(target('restart-kubelet')), 8_000)).toBe(
      'Unreachable: its daemon is not heard, so that it can be told nothing; nothing was sent',
    );
  });

  it('that are taken and never answered end at their deadline', async () => {
    await started(120_000);
    const said = await result((await agentOf()).run(target('restart-container-runtime')));
    expect(said).toBe('Timeout: the daemon took it, and has not said yet what became of it');
    expect(counted()).toEqual(['restart-container-runtime given 1', 'restart-container-runtime unanswered 1']);
  });

  it('to reboot count as done once another boot attests, and that boot is not rebooted again', async () => {
    const machine = await started();
    const agent = await agentOf();
    expect(await result(agent.run(target('reboot')))).toContain('accepted');
    expect(await agent.confirm(target('reboot'))).toBe(true);
    expect(await agent.confirm(target('reboot', { incident: 'fence/2' })), 'another incident').toBe(false);
    machine.kill();
    const name = attestationName('a');
    const lease = await world.lease('a');
    const booted = { ...(await world.attestation('a')), bootID: UUID, orders: undefined };
    const annotations = { ...lease.metadata.annotations, 'nodefence.ha.k8s.io/attestation': JSON.stringify(booted) };
    await world.operator.mergePatch(LEASES, name, { metadata: { annotations } }, { namespace: NAMESPACE });
    const successor = await agentOf(world.replica('controller-2', { isLeading: false }));
    expect(await result(successor.run(target('reboot')))).toBe(`accepted: the node has booted anew since it was told to reboot: ${UUID}`);
    expect(await successor.confirm(target('reboot'))).toBe(true);
    expect(executed).toEqual(['reboot']);
    expect(ordersSent()).toBe(gates);
  });

  it('to another machine of that name are not given', async () => {
    await started();
    const said = await result((await agentOf()).run(target('reboot', { identity: { node: 'a', systemUUID: UUID.replace('1', '2') } })));
    expect(said).toBe(`Misconfigured: another machine attests, with system UUID ${UUID}`);
    expect((await world.lease('a')).metadata.annotations?.[ORDERED]).toBeUndefined();
  });

  it('are not given where nobody attests, or no controller serves node daemons', async () => {
    expect(await result((await agentOf()).run(target('reboot')))).toMatch(/^Refused: no daemon of this node attests anything/);
    await started();
    const alone = await nodeDaemon.create({ cluster: world.operator, clock: world.clock, namespace: NAMESPACE });
    expect(await result((alone as ActionAgent).run(target('reboot')))).toBe('Misconfigured: the controller was not started with --node-daemons');
  });
});

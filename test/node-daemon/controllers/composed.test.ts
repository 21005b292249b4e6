import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { standardRegistry } from '../../../agents/registry.ts';
import { LivePlanner } from '../../../src/config/live-planner.ts';
import { countedProblems } from '../../../src/cli/counted-problems.ts';
import { composeController } from '../../../src/manager/compose.ts';
import type { ComposedController } from '../../../src/manager/compose.ts';
import { X25519_KEY_PAIRS } from '../../../src/node/shell/exchange-keys.ts';
import { NO_METRICS } from '../../../src/ports/metrics.ts';
import { CONFIG_MAPS, NODE_FENCE_REPORTS, SECRETS } from '../../../src/ports/resources.ts';
import { SystemRandom } from '../../../src/runtime/system-random.ts';
import { parseControllers } from '../../../src/domain/node-daemon/controllers.ts';
import { sendShipped } from '../../../src/testbed/shipped/send.ts';
import { inProcessTransport } from '../../../src/testbed/apiserver/transport.ts';
import { ControllerWorld, NAMESPACE } from './world.ts';

const quiet = (): void => undefined;
const CONTROLLER = 'system:serviceaccount:nodefence-system:nodefence-controller';

describe('a composed controller', () => {
  let world: ControllerWorld;
  const running: ComposedController[] = [];

  beforeEach(async () => {
    world = await ControllerWorld.create([{ name: CONTROLLER, groups: ['system:serviceaccounts', 'system:authenticated'] }]);
  });

  afterEach(async () => {
    for (const controller of running.splice(0)) {
      const stopped = controller.stop(1_000);
      await world.clock.advance(30_000);
      await stopped;
    }
  });

  async function begin(servesDaemons: boolean): Promise<string[]> {
    const listened: string[] = [];
    const socket = world.socket('controller', '192.0.2.1:7411');
    const receive = (handle: (bytes: Uint8Array, from: string) => void): void => {
      listened.push('192.0.2.1:7411');
      socket.receive(handle);
    };
    const controller = composeController(
      {
        transport: inProcessTransport(world.server, CONTROLLER),
        clock: world.clock,
        random: new SystemRandom(),
        registry: standardRegistry(),
        logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
        metrics: NO_METRICS,
        recorder: { event: quiet },
        planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
        exit: quiet,
        ...(servesDaemons ? { nodeDaemons: { socket: { ...socket, receive }, keyPairs: X25519_KEY_PAIRS, topologyKeys: [] } } : {}),
      },
      {
        ...{ mode: 'enforce', ownNode: undefined, outOfService: true, staleAfterMs: 90_000, namespace: NAMESPACE, identity: 'controller' },
        ...{ concurrency: 1, syncDeadlineMs: 10_000 },
      },
    );
    running.push(controller);
    controller.start().catch(quiet);
    await world.run(40_000, 500);
    expect(controller.elector.isLeading).toBe(true);
    return listened;
  }

  const told = async () => parseControllers((await world.operator.get(CONFIG_MAPS, 'nodefence-controllers', NAMESPACE))?.data);

  it('serves node daemons with the rights of config/node-daemon-controller: its key is made, and nodes are told where it is', async () => {
    await sendShipped(inProcessTransport(world.server, 'admin'), ['node-daemon-controller']);
    expect(await begin(true)).toEqual(['192.0.2.1:7411']);
    expect(await told()).toMatchObject({ addresses: ['192.0.2.1:7411'] });
    const secret = await world.operator.get(SECRETS, 'nodefence-controllers-exchange-key', NAMESPACE);
    expect((await told())?.publicKeys).toEqual([X25519_KEY_PAIRS.load(atob(secret?.data?.['privateKey'] ?? '')).publicKey]);
  });

  it('says what it lacks without these rights', async () => {
    await begin(true);
    expect(await told()).toBeUndefined();
    const notices = JSON.stringify(
      await world.operator.list(
        { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true },
        { namespace: NAMESPACE },
      ),
    );
    expect(notices).toContain('cannot create resource');
  });

  it('shows on its page of problems what the reports that it watches have counted', async () => {
    await begin(false);
    const [controller] = running;
    const problemCounts = { counted: [{ reason: 'KernelOops', workload: 'Deployment shop/web', times: ['2026-01-01T00:00:00.000Z'] }] };
    const report = await world.operator.create(NODE_FENCE_REPORTS, { metadata: { name: 'worker-1' } });
    await world.operator.replaceStatus(NODE_FENCE_REPORTS, { ...report, status: { problemCounts } });
    await world.run(2_000, 500);
    expect(countedProblems(controller?.listers ?? [])).toMatchObject([{ subject: 'Deployment shop/web', reason: 'KernelOops', nodes: ['worker-1'] }]);
  });

  it('neither listens nor writes anything of it where it is switched off', async () => {
    await sendShipped(inProcessTransport(world.server, 'admin'), ['node-daemon-controller']);
    expect(await begin(false)).toEqual([]);
    expect(await told()).toBeUndefined();
    expect(await world.operator.get(SECRETS, 'nodefence-controllers-exchange-key', NAMESPACE)).toBeUndefined();
  });
});

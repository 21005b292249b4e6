import { expect, it } from 'vitest';
import { Owners } from '../../../manager/detection/ownership.ts';
import { HEALTH_CHECK_MODE, healthCheckClaim } from '../../../manager/health-checks/mode.ts';
import { SystemClock } from '../../../runtime/system-clock.ts';
import { createLogger } from '../../../telemetry/logger.ts';
import { HOST_MACHINES } from '../../../testbed/operators/host-fleet.ts';
import { saysLeftTo } from './left-to-others.ts';

const { group, version } = HOST_MACHINES;

it('a controller that leaves health checks to another one says so in words that the drill knows', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', format: 'json', write: (line) => void lines.push(line) });
  const owners = new Owners({ clock: new SystemClock(), log, claim: healthCheckClaim('auto'), message: HEALTH_CHECK_MODE });
  const found = { nowMs: Date.now(), group, served: { group, version }, isOurs: true, leases: [], unseen: [] };
  owners.judge([{ ...found, deployments: [] }]);
  expect(lines.filter((line) => saysLeftTo(line, group))).toEqual([]);
  owners.judge([{ ...found, deployments: [{ name: 'capi-controller-manager', namespace: 'capi-system', replicas: 1 }] }]);
  expect(lines.filter((line) => saysLeftTo(line, group))).toHaveLength(1);
  expect(lines.filter((line) => saysLeftTo(line, 'machine.openshift.io'))).toEqual([]);
});

import { apiOutage, configEdit, flap } from './cluster-faults.ts';
import { bmcDead, lateOff, leftOff, psu, sharedOutlet, wrongMachine } from './device-faults.ts';
import { etcdQuorum, maintenance } from './held-faults.ts';
import { mhcExternal } from './health-check/external-faults.ts';
import { mhc, mhcShortCircuit } from './health-check/machine-faults.ts';
import { nhc, nhcTimeout } from './health-check/node-faults.ts';
import { kdump, kdumpEndless, kdumpForged, kdumpHang } from './kdump/kdump-faults.ts';
import { controllerCrash, leaderPause } from './leader-faults.ts';
import { mrc, mrcBmcDead, mrcCrash, mrcLoop, mrcPermanent } from './machine-remediation/faults.ts';
import { m3r, m3rRetries } from './metal3-remediation/faults.ts';
import { WORLD } from './names.ts';
import type { Fault } from './names.ts';
import { ack, stop } from './people-faults.ts';
import { preserveFence, preserveNow, preserveWhenFailed } from './preservation/asked-faults.ts';
import { autoPreserve, preserveDecrease, preserveExpiry, preserveRecover } from './preservation/automatic-faults.ts';
import { preserveObserve } from './preservation/observed-faults.ts';
import { kernelDeadlock, npdRestart, staleCondition } from './remedies/condition-faults.ts';
import { diskPressure } from './remedies/disk-fault.ts';
import { drainBlocked, readonlyFs, remedyCrash } from './remedies/job-faults.ts';
import { NOTHING_FOUND, panic, strike, tellBmc, tellMachine } from './script.ts';
import type { FaultScript, FaultStage } from './script.ts';
import { storm, switchLoss, twoNodes } from './storm-faults.ts';

/** A fault of one blow. */
function atOnce(fault: Fault, blow: (stage: FaultStage) => void, before: (stage: FaultStage) => void = () => undefined): FaultScript {
  return (stage) => {
    before(stage);
    return { atMs: strike(stage, fault, () => blow(stage)), over: Promise.resolve(NOTHING_FOUND) };
  };
}

export const SCRIPTS: Readonly<Record<Fault, FaultScript>> = {
  panic: atOnce('panic', panic),
  hang: atOnce('hang', (stage) => tellMachine(stage, 'hang')),
  'bmc-slow': atOnce('bmc-slow', panic, (stage) => tellBmc(stage, { offDelayMs: WORLD.bmcSlowMs })),
  'bmc-lies': atOnce('bmc-lies', panic, (stage) => tellBmc(stage, 'lies')),
  partition: atOnce('partition', (stage) => tellMachine(stage, 'partition')),
  flap,
  'config-edit': configEdit,
  'api-outage': apiOutage,
  'controller-crash': controllerCrash,
  'leader-pause': leaderPause,
  psu,
  'bmc-dead': bmcDead,
  stop,
  ack,
  'left-off': leftOff,
  'wrong-machine': wrongMachine,
  'late-off': lateOff,
  'shared-outlet': sharedOutlet,
  switch: switchLoss,
  storm,
  'two-nodes': twoNodes,
  maintenance,
  'etcd-quorum': etcdQuorum,
  'preserve-now': preserveNow,
  'preserve-when-failed': preserveWhenFailed,
  'auto-preserve': autoPreserve,
  'preserve-expiry': preserveExpiry,
  'preserve-decrease': preserveDecrease,
  'preserve-recover': preserveRecover,
  'preserve-fence': preserveFence,
  'preserve-observe': preserveObserve,
  mhc,
  'mhc-short-circuit': mhcShortCircuit,
  'mhc-external': mhcExternal,
  nhc,
  'nhc-timeout': nhcTimeout,
  mrc,
  'mrc-crash': mrcCrash,
  'mrc-loop': mrcLoop,
  'mrc-bmc-dead': mrcBmcDead,
  'mrc-permanent': mrcPermanent,
  m3r,
  'm3r-retries': m3rRetries,
  kdump,
  'kdump-hang': kdumpHang,
  'kdump-endless': kdumpEndless,
  'kdump-forged': kdumpForged,
  'kernel-deadlock': kernelDeadlock,
  'disk-pressure': diskPressure,
  'readonly-fs': readonlyFs,
  'npd-restart': npdRestart,
  'stale-condition': staleCondition,
  'remedy-crash': remedyCrash,
  'drain-blocked': drainBlocked,
};

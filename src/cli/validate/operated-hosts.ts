import type { SurveyProblem } from '../../config/survey.ts';
import { leftAloneBecause, unmanagedBecause } from '../../controllers/shared/baremetal-host/host.ts';
import { readHost } from '../../controllers/shared/baremetal-host/read-host.ts';
import { methodsOf, writtenName } from '../../domain/device-paths.ts';
import { switchesOff } from '../../domain/plan.ts';
import type { PlanMethod } from '../../domain/plan.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import type { ReportedNode } from './report.ts';

/** Agents that reach a BMC at its own address; whoever cuts its current does not meet the operator there. */
const BMC_AGENTS: ReadonlySet<string> = new Set(['redfish', 'ipmi']);
const PORTS: Readonly<Record<string, string>> = { https: '443', http: '80', ipmi: '623', libvirt: '623' };
const STANDARD: ReadonlySet<string> = new Set(Object.values(PORTS));

/** What is switched off behind a baremetal-operator is switched on again by it: the fence would see that, and release nothing. */
export function operatedProblems(nodes: readonly Pick<ReportedNode, 'facts' | 'plan'>[], hosts: readonly BareMetalHost[]): SurveyProblem[] {
  const placed = hosts.filter(isMinded).flatMap((host) => {
    const bmc = bmcOf(host.spec?.bmc?.address ?? '');
    return bmc === undefined ? [] : [{ host, bmc }];
  });
  return nodes.flatMap(({ facts, plan }) => {
    const found = new Map<string, SurveyProblem>();
    for (const method of methodsOf(plan).filter(isBmcOff)) {
      const { host } = placed.find(({ bmc }) => isSame(bmc, method)) ?? {};
      if (host === undefined) continue;
      const name = `${host.metadata.namespace ?? ''}/${host.metadata.name}`;
      const message = `method ${writtenName(method)} switches off by ${method.agent} at ${method.device} what BareMetalHost ${name} keeps on: its operator switches it on again, and nothing is ever released. Use agent_name=metal3 with plug=${name}`;
      found.set(message, { severity: 'warning', where: `Node ${facts.name}`, message, steps: ['power-management'], nodes: [facts.name] });
    }
    return [...found.values()];
  });
}

/** The operator acts on it, and wants it on. */
function isMinded(host: BareMetalHost): boolean {
  const facts = readHost(host);
  return unmanagedBecause(facts) === undefined && leftAloneBecause(facts) === undefined;
}

function isBmcOff(method: PlanMethod): boolean {
  return BMC_AGENTS.has(method.agent) && switchesOff(method);
}

interface Bmc {
  host: string;
  port: string;
  /** The member of Systems that the address names. */
  system: string | undefined;
}

/** `spec.bmc.address` of a BareMetalHost: `redfish-virtualmedia+http://10.0.0.1:8000/redfish/v1/Systems/1`, or a host alone. Undefined: not to be read. */
function bmcOf(address: string): Bmc | undefined {
  const [, type = 'ipmi', rest = ''] = /^(?:([a-z0-9+.-]+):\/\/)?(.*)$/i.exec(address) ?? [];
  const place = URL.parse(`place://${rest}`);
  if (place === null || place.hostname === '') return undefined;
  const plain = type.toLowerCase();
  const port = plain.endsWith('+http') ? PORTS['http'] : plain === 'ipmi' || plain === 'libvirt' ? PORTS[plain] : PORTS['https'];
  const system = /\/Systems\/([^/]+)/.exec(place.pathname)?.[1];
  return { host: place.hostname.toLowerCase(), port: place.port === '' ? (port ?? '') : place.port, system };
}

/** By name and port; Redfish and IPMI of one BMC stand at different ports, each the standard one. Another system of the same service is another machine. */
function isSame(bmc: Bmc, { device, plug }: PlanMethod): boolean {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(device) ?? [];
  if (host.toLowerCase() !== bmc.host) return false;
  if (port !== bmc.port && !(STANDARD.has(port) && STANDARD.has(bmc.port))) return false;
  return bmc.system === undefined || plug === '' || plug === bmc.system;
}

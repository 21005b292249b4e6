import type { PowerAgent, Target } from '../../src/ports/agents.ts';
import type { CloudServiceOptions } from '../../src/testbed/devices/cloud/cloud-service.ts';
import { openstackCloud, openstackOf, type OpenStackService } from '../../src/testbed/devices/cloud/openstack.ts';
import { environmentOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { openstack } from '../../agents/openstack/definition.ts';

/** An emulated OpenStack, and agents that find it by their environment. */
export interface Bench {
  cloud: CloudHarness;
  service: OpenStackService;
  agent: PowerAgent;
  target: (change?: Partial<Target>) => Target;
  agentIn(variables: Readonly<Record<string, string>>, files?: Readonly<Record<string, string>>): Promise<PowerAgent>;
  close(): Promise<void>;
}

export async function startBench(change: Partial<CloudServiceOptions> = {}): Promise<Bench> {
  const cloud = await startCloudHarness(openstackCloud, change);
  const service = openstackOf(cloud.service);
  const agents: PowerAgent[] = [];
  const agentIn: Bench['agentIn'] = async (variables, files) => {
    const created = await powerAgentIn(openstack, environmentOf(variables, files));
    agents.push(created);
    return created;
  };
  return {
    cloud,
    service,
    agent: await agentIn(service.variables),
    target: (more) => cloud.target(more),
    agentIn,
    close: async () => {
      for (const one of agents) await one.close?.();
      await service.close();
    },
  };
}

import type { AgentDefinition, Parameters } from '../ports/agents.ts';

/** `host:port`: one device, of an agent that has an address. */
const ADDRESS = /^\[?[^[\]]+?\]?:\d+$/;
/** Which machine it is behind a BMC with several. */
const OF_MACHINE: ReadonlySet<string> = new Set(['systems_uri', 'system_uuid', 'serial']);
/** No host and no port that anybody writes. */
const ANOTHER = '01';

/** Says this parameter which device is called? The plan was checked, and its plugs compared with those of other nodes, by what the ConfigMaps say of it. */
export function mayNameDevice(definition: AgentDefinition, shown: Parameters, name: string): boolean {
  return leadsElsewhere(definition, shown, name, ANOTHER);
}

/** With this value another device is called than that of the plan. What says where no ConfigMap does, as the project of a cloud, leads to no other. */
export function leadsElsewhere(definition: AgentDefinition, shown: Parameters, name: string, value: string): boolean {
  const planned = definition.deviceKey(shown);
  const isWritten = shown[name] !== undefined;
  if (isWritten && OF_MACHINE.has(name)) return shown[name] !== value;
  return (isWritten || ADDRESS.test(planned)) && definition.deviceKey({ ...shown, [name]: value }) !== planned;
}

import { afterEach, describe, expect, it } from 'vitest';

import { AgentHarnesses, agentFailure, HARNESS_UUID } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { resourceTree, RESET_PATH, SYSTEM_PATH, type ResourceTree } from '../../src/testbed/devices/bmc/tree.ts';
import { RedfishAgent } from './agent.ts';

const harnesses = new AgentHarnesses((clock) => new RedfishAgent(clock));
afterEach(() => harnesses.closeAll());

const MANAGER = '/redfish/v1/Managers/iDRAC.Embedded.1';
const SERVICE = '/redfish/v1/Dell/Managers/iDRAC.Embedded.1/DellLCService';
const SHOT = `${SERVICE}/Actions/DellLCService.ExportServerScreenShot`;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

function link(path: string): { '@odata.id': string } {
  return { '@odata.id': path };
}

function collection(...paths: string[]): Record<string, unknown> {
  return { 'Members@odata.count': paths.length, Members: paths.map(link) };
}

function entry(path: string, minute: number): Record<string, unknown> {
  return { ...link(path), Created: `2026-03-07T14:${String(minute).padStart(2, '0')}:00Z`, Severity: 'Critical', Message: `event ${minute}` };
}

function machineOf(vendor: string, manager: object): ResourceTree {
  const system = resourceTree({ uuid: HARNESS_UUID })[SYSTEM_PATH] ?? {};
  return {
    [SYSTEM_PATH]: { ...system, Manufacturer: vendor, Links: { ManagedBy: [link(MANAGER)] }, LogServices: link(`${SYSTEM_PATH}/LogServices`) },
    [MANAGER]: { ...link(MANAGER), LogServices: link(`${MANAGER}/LogServices`), ...manager },
    [`${SYSTEM_PATH}/LogServices`]: collection(`${SYSTEM_PATH}/LogServices/Other`),
    [`${SYSTEM_PATH}/LogServices/Other`]: { Entries: link(`${SYSTEM_PATH}/LogServices/Other/Entries`) },
    [`${SYSTEM_PATH}/LogServices/Other/Entries`]: collection(`${SYSTEM_PATH}/LogServices/Other/Entries/1`),
    [`${SYSTEM_PATH}/LogServices/Other/Entries/1`]: entry(`${SYSTEM_PATH}/LogServices/Other/Entries/1`, 9),
    [`${MANAGER}/LogServices`]: collection(`${MANAGER}/LogServices/Sel`),
    [`${MANAGER}/LogServices/Sel`]: { Entries: link(`${MANAGER}/LogServices/Sel/Entries`) },
    [`${MANAGER}/LogServices/Sel/Entries`]: { 'Members@odata.count': 3, Members: [entry('/e/3', 33), entry('/e/1', 11), entry('/e/2', 22)] },
  };
}

const DELL = machineOf('Dell Inc.', { Links: { Oem: { Dell: { DellLCService: link(SERVICE) } } } });
const LC_SERVICE = { [SERVICE]: { ...link(SERVICE), Actions: { '#DellLCService.ExportServerScreenShot': { target: SHOT } } } };

function text(content: Uint8Array | undefined): string {
  return new TextDecoder().decode(content);
}

describe('failure diagnostics', () => {
  it('are the logs, the best first and by time, and a picture of the console in the way of Dell', async () => {
    const answers = { [`POST ${SHOT}`]: { status: 200, headers: {}, body: { ServerScreenShotFile: PNG.toString('base64') } } };
    const { agent, target, device } = await harnesses.start({ extra: { ...DELL, ...LC_SERVICE }, answers });
    const [sel, other, picture] = await agent.failureDiagnostics(target());
    expect(sel).toMatchObject({ name: 'sel', mediaType: 'text/plain' });
    expect(text(sel?.content).split('\n')).toEqual([
      `# ${MANAGER}/LogServices/Sel`,
      '2026-03-07T14:11:00Z Critical event 11',
      '2026-03-07T14:22:00Z Critical event 22',
      '2026-03-07T14:33:00Z Critical event 33',
      '',
    ]);
    expect(other?.name).toBe('log-Other');
    expect(text(other?.content)).toContain('event 9');
    expect(picture).toMatchObject({ name: 'screenshot', mediaType: 'image/png' });
    expect(Buffer.from(picture?.content ?? [])).toEqual(PNG);
    expect(device.commands).toEqual([]);
  });

  it('say in the words of the device why there is no picture, and are complete without one', async () => {
    const refusal = { status: 503, headers: {}, body: { error: { message: 'The console is in use.' } } };
    const { agent, target } = await harnesses.start({ extra: { ...DELL, ...LC_SERVICE }, answers: { [`POST ${SHOT}`]: refusal } });
    const shown = await agent.failureDiagnostics(target());
    expect(text(shown.find(({ name }) => name === 'screenshot')?.content)).toContain('The console is in use.');
    const without = await harnesses.start({ extra: DELL });
    expect((await without.agent.failureDiagnostics(without.target())).map(({ name }) => name)).toEqual(['sel', 'log-Other']);
  });

  it.each([
    ['no picture', Buffer.from('<html>login</html>'), 'text/plain'],
    ['a bitmap', Buffer.from('BM1234567'), 'image/bmp'],
    ['more than 1 MiB', Buffer.concat([Buffer.from('BM'), Buffer.alloc(1_100_000)]), 'text/plain'],
  ])('show the file of HPE for what it is: %s', async (_what, body, mediaType) => {
    const answers = { 'GET /images/thumbnail.bmp': { status: 200, headers: {}, body: new Uint8Array(body) } };
    const { agent, target } = await harnesses.start({ extra: machineOf('HPE', {}), answers });
    const picture = (await agent.failureDiagnostics(target())).find(({ name }) => name === 'screenshot');
    expect(picture?.mediaType).toBe(mediaType);
  });

  it('are none of another machine, and none where the device has no logs', async () => {
    const bare = await harnesses.start();
    expect(await bare.agent.failureDiagnostics(bare.target())).toEqual([]);
    const other = bare.target({ identity: { node: 'a', systemUUID: '4c4c4544-0030-5210-8047-c6c04f5a4333' } });
    expect(await agentFailure(bare.agent.failureDiagnostics(other))).toMatchObject({ kind: 'Misconfigured' });
  });

  it('of a device with a thousand entries are its newest two hundred, whichever end they stand at', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({
      ...link(`/e/${index}`),
      Created: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString(),
      Message: `event ${index}`,
    }));
    const path = `${MANAGER}/LogServices/Sel/Entries`;
    for (const members of [many, many.toReversed()]) {
      const { agent, target } = await harnesses.start({
        extra: { ...machineOf('Other', {}), [path]: { 'Members@odata.count': 1_000, Members: members } },
      });
      const lines = text((await agent.failureDiagnostics(target()))[0]?.content)
        .trim()
        .split('\n')
        .slice(1);
      expect(lines).toHaveLength(200);
      expect(lines.at(-1)).toContain('event 999');
    }
  });
});

describe('a diagnosis', () => {
  it('is an NMI, after the identity and the lease, and switches nothing', async () => {
    const { agent, target, device, machine } = await harnesses.start();
    let checks = 0;
    expect(await agent.diagnose(target({ beforeSend: () => void (checks += 1) }))).toMatchObject({ result: 'accepted' });
    expect(checks).toBe(1);
    expect(device.commands).toEqual([{ plug: '', wanted: 'other' }]);
    expect(machine.edges).toEqual([]);
  });

  it('is refused where the device has no Nmi, and at another machine', async () => {
    const { agent, target, device } = await harnesses.start({ tree: { resetTypes: ['On', 'ForceOff'] } });
    expect(await agentFailure(agent.diagnose(target()))).toMatchObject({ kind: 'Refused' });
    const other = target({ identity: { node: 'a', systemUUID: '4c4c4544-0030-5210-8047-c6c04f5a4333' } });
    expect(await agentFailure(agent.diagnose(other))).toMatchObject({ kind: 'Misconfigured' });
    expect(device.requests).not.toContain(`POST ${RESET_PATH}`);
  });
});

describe('a list', () => {
  it('shows every ComputerSystem with its name and state', async () => {
    const { agent, target } = await harnesses.start({
      state: 'off',
      tree: { hostName: 'worker-1', otherSystems: { HGX: '11111111-2222-3333-4444-555555555555' } },
    });
    expect(await agent.list(target())).toEqual([
      { plug: '1', alias: 'worker-1', state: 'off' },
      { plug: 'HGX', alias: 'worker-1', state: 'on' },
    ]);
  });
});

import { afterEach, describe, expect, it } from 'vitest';

import type { Target } from '../../../src/ports/agents.ts';
import { ManualClock } from '../../../src/runtime/manual-clock.ts';
import { IpmiAgent } from '../agent.ts';
import { fakeIpmitool, type FakeAnswers } from '../testing/fake-ipmitool.ts';
import { until } from '../testing/ipmi-simulator.ts';

const cleanUp: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

function start(answers: FakeAnswers) {
  const fake = fakeIpmitool(answers);
  const clock = new ManualClock();
  const agent = new IpmiAgent(clock, { path: fake.path });
  const target: Target = {
    plug: '',
    device: 'bmc:623',
    parameters: { transport: 'ipmitool', ip: '192.0.2.10', username: 'admin', password: 'secret' },
    identity: { node: 'worker-1' },
    signal: new AbortController().signal,
    deadlineMs: 20_000,
    beforeSend: () => undefined,
  };
  cleanUp.push(
    () => fake.dispose(),
    () => agent.close(),
  );
  const heard = (command: string) => fake.commands().filter((line) => line === command).length;
  return { agent, clock, target, heard };
}

describe('an idle shell', { timeout: 60_000 }, () => {
  it('is kept warm for three minutes after the last call, then ended', async () => {
    const { agent, clock, target, heard } = start({});
    await agent.read(target);
    for (let asked = 2; asked <= 9; asked += 1) {
      await clock.advance(20_000);
      await until(() => heard('raw 6 55') === asked, 'a keep-alive');
      // While it is under way its own deadline of 2 s is armed.
      await until(() => clock.nextInMs === 20_000, 'the end of the keep-alive');
    }
    expect(heard('exit')).toBe(0);
    await clock.advance(20_000);
    await until(() => heard('exit') === 1, 'the end of the shell');
    expect(heard('raw 6 55')).toBe(9);
    expect(heard('login')).toBe(1);
  });

  it.each([
    ['is silent', 'echo "Unable to send RAW command (channel=0x0 netfn=0x6 lun=0x0 cmd=0x37)"'],
    ['dies', 'exit 1'],
    ['answers anything', 'echo hello'],
  ])('is replaced by the next call when the keep-alive %s', async (_what, odd) => {
    const { agent, clock, target, heard } = start({
      guid: `if [ "$n" = 1 ] && [ "$(grep -c "raw 6 55" "\${0%/*}/log")" = 2 ]; then ${odd}; else echo " a1 23 45 67 89 ab cd ef a1 23 45 67 89 00 00 01"; fi`,
    });
    await agent.read(target);
    await clock.advance(20_000);
    await until(() => heard('raw 6 55') === 2, 'a keep-alive');
    expect(await agent.read(target)).toMatchObject({ state: 'on' });
    expect(heard('login')).toBe(2);
  });

  it('does not let a call wait for a keep-alive that hangs', async () => {
    const { agent, clock, target, heard } = start({
      guid: 'if [ "$n" = 1 ] && [ "$(grep -c "raw 6 55" "${0%/*}/log")" = 2 ]; then sleep 1000; else echo " a1 23 45 67 89 ab cd ef a1 23 45 67 89 00 00 01"; fi',
    });
    await agent.read(target);
    await clock.advance(20_000);
    await until(() => heard('raw 6 55') === 2, 'a keep-alive');
    const reading = agent.read(target);
    await clock.advance(2_000);
    expect(await reading).toMatchObject({ state: 'on' });
    expect(heard('login')).toBe(2);
  });
});

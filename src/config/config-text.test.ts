import { describe, expect, it } from 'vitest';
import { CONFIG_KEY, ConfigText, readSettings, TEMPLATE_KEY } from './configuration.ts';
import { Problems } from './problems.ts';

const REBOOT = 'fence-method-reboot';

function read(config: ConfigText, key: string): ReturnType<typeof readSettings> {
  return readSettings(config, key, new Problems());
}

describe('settings of a ConfigMap', () => {
  it('are made once where every node of a group asks for them, and told what is wrong with them each time', () => {
    const config = new ConfigText({ name: 'fence-config-linux', data: { [CONFIG_KEY]: 'node_selector=a=b\nnonsense\n', [REBOOT]: 'plug=1\n' } });
    const [first, second] = [new Problems(), new Problems()];
    expect(readSettings(config, CONFIG_KEY, first)).toBe(readSettings(config, CONFIG_KEY, second));
    expect(first.all()).toHaveLength(1);
    expect(second.all()).toEqual(first.all());
    expect(read(config, REBOOT)).toBe(read(config, REBOOT));
    const template = new ConfigText({ name: 'fence-template-x', data: { [TEMPLATE_KEY]: 'ip=192.0.2.1\n' } });
    expect(read(template, TEMPLATE_KEY)).toBe(read(template, TEMPLATE_KEY));
  });

  it('are not held where one node has them, of which there are thousands', () => {
    const config = new ConfigText({ name: 'fence-config-a', data: { [CONFIG_KEY]: 'power_management=reboot\n' } });
    expect(read(config, CONFIG_KEY)).not.toBe(read(config, CONFIG_KEY));
    expect(read(config, CONFIG_KEY)).toEqual(read(config, CONFIG_KEY));
    expect(read(config, 'elsewhere')).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';

import { parseMetadata } from './metadata.ts';
import { escapeXml, parseXml } from '../shared/xml.ts';

const page = (parameters: string, actions: string): string =>
  `<?xml version="1.0" ?>\n<resource-agent name="fence_x" shortdesc="An &quot;agent&quot;" ><longdesc>a &amp; b</longdesc><vendor-url></vendor-url>
<parameters>${parameters}</parameters><actions>${actions}</actions></resource-agent>\n`;

describe('a small XML document', () => {
  it('is read with comments, CDATA, entities and both kinds of quotes', () => {
    expect(parseXml(`<?xml version="1.0"?><!DOCTYPE a><!-- <b> --><a x='1 &lt; 2' y="&#65;&#x42;&odd;"><![CDATA[<c>]]> &amp; d<e/></a>`)).toEqual({
      name: 'a',
      attributes: { x: '1 < 2', y: 'AB&odd;' },
      children: [{ name: 'e', attributes: {}, children: [], text: '' }],
      text: '<c> & d',
    });
  });

  it.each([
    '',
    'usage: fence_x',
    '<a>',
    '<a></b>',
    '</a>',
    '<a/><b/>',
    '<a/>trailing',
    '<a b></a>',
    '<a',
    `${'<a>'.repeat(60)}${'</a>'.repeat(60)}`,
    '<a>&</a><',
  ])('%j is none', (text) => {
    expect(parseXml(text)).toBeUndefined();
  });

  it('holds whatever text is put into it', () => {
    const text = `a<b>&"'\u0000\u{1F600}]]>`;
    expect(parseXml(`<a b="${escapeXml(text)}">${escapeXml(text)}</a>`)).toMatchObject({
      attributes: { b: `a<b>&"'?\u{1F600}]]>` },
      text: `a<b>&"'?\u{1F600}]]>`,
    });
  });
});

describe('the metadata of a fence agent', () => {
  const content = '<getopt mixed="-a" /><content type="string" default="a &amp; b" /><shortdesc lang="en">The\n address</shortdesc>';

  it('know a parameter by its newest name, with the older ones as aliases', () => {
    const metadata = parseMetadata(
      page(
        `<parameter name="ip" required="1" obsoletes="ipaddr">${content}</parameter><parameter name="ipaddr" required="1" deprecated="1">${content}</parameter>
        <parameter name="passwd" required="0"><content type="string"/></parameter>`,
        '<action name="on" automatic="0"/><action name="off"/><action name="reboot"/>',
      ),
    );
    expect([...(metadata?.parameters.keys() ?? [])]).toEqual(['ip', 'passwd']);
    expect(metadata?.parameters.get('ip')).toEqual({
      name: 'ip',
      aliases: ['ipaddr'],
      required: true,
      type: 'string',
      default: 'a & b',
      options: [],
      description: 'The address',
    });
    // An agent of an older library is asked by its older names, and may be configured by the newer.
    expect(metadata?.parameters.get('passwd')?.aliases).toEqual(['password']);
    expect(metadata).toMatchObject({ name: 'fence_x', description: 'An "agent"', isFabric: false, isOnTarget: false });
  });

  it.each([
    ['unfencing by itself', '<action name="on" automatic="1"/><action name="off"/><action name="reboot"/>'],
    ['no reboot', '<action name="on"/><action name="off"/>'],
  ])('of an agent with %s are those of a way, not of power', (_why, actions) => {
    expect(parseMetadata(page('', actions))).toMatchObject({ isFabric: true });
  });

  it.each(['usage: fence_ack_manual <nodename>', '<a/>', page('', ''), page('', '<action name="off"/>').slice(0, -5)])('are none: %j', (text) => {
    expect(parseMetadata(text)).toBeUndefined();
  });
});

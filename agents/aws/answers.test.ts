import { describe, expect, it } from 'vitest';

import { instancesIn } from './answers.ts';

describe('an answer of DescribeInstances', () => {
  it('that lists none shows none', () => {
    expect(instancesIn('<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>')).toEqual({ instances: [], nextToken: undefined });
  });

  it.each(['<DescribeInstancesResponse/>', '<DescribeInstancesResponse><requestId>r</requestId></DescribeInstancesResponse>', '<html/>', ''])(
    'that has no list is none: %s',
    (text) => {
      expect(instancesIn(text)).toBeUndefined();
    },
  );
});

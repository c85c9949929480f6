import { defaultPolicy, policy } from '../../src/catalogue/policy.js';
import { isNamed, noPolicyYet, policyHash } from '../../src/domain/policy-in-force.js';

describe('the policy of a repo that has adopted none', () => {
  it('has the figures of domain.md', () => {
    expect(defaultPolicy).toMatchObject({
      perPattern: 3,
      perFile: { failures: 6, patterns: 3 },
      escalateFromAttempt: 2,
      probeRate: 0.1,
      defaultBudget: 4,
      failureMaxAgeSeconds: null,
      importedCount: true,
      attribution: 'target',
      infraBreaker: { files: 3, withinSeconds: 300 },
    });
    expect(defaultPolicy.infraCooldown).toEqual({
      after: 2,
      seconds: {
        ...Object.fromEntries(['dns', 'connect', 'tls', 'net_timeout', 'registry'].map((kind) => [kind, 900])),
        ...{ rate_limit: 60, lock: 30, memory: 60, killed: 60 },
        ...Object.fromEntries(['auth', 'disk', 'toolchain', 'permission', 'offline'].map((kind) => [kind, 3600])),
      },
      otherSeconds: 900,
    });
  });

  // A default that gains a field has another hash: the one before it goes into EARLIER_DEFAULTS, and here.
  it.each([
    ['today’s', policyHash(defaultPolicy)],
    ['that of before infraBreaker', '3c56df8e04d334d11b682e325fab288bfda5d23e55bb7c5f3d545f7feedcd61e'],
    ['that of before attribution', '11e7973ddb81d4231f32459fabb76a4cf47e83b4145baf84b5a1753d0b2493d4'],
  ])('is known by the hash that decisions name it by: %s', (_which, hash) => {
    expect(isNamed(noPolicyYet, hash)).toBe(true);
  });

  it('has the lease of api.md', () => {
    expect(defaultPolicy.defaultLeaseSeconds).toBe(900);
  });
});

describe('a policy as data', () => {
  it('names only what it changes; the rest is default', () => {
    expect(policy.parse({ perPattern: 5 })).toEqual({ ...defaultPolicy, perPattern: 5 });
  });

  it('whole, reads as itself', () => {
    expect(policy.parse(defaultPolicy)).toEqual(defaultPolicy);
    expect(policy.parse(JSON.parse(JSON.stringify(defaultPolicy)))).toEqual(defaultPolicy);
  });

  it.each([
    ['an unknown threshold', { perPatern: 3 }],
    ['an unknown threshold further in', { perFile: { failures: 6, patterns: 3, files: 1 } }],
    ['half of a pair', { perFile: { failures: 6 } }],
    ['a threshold of nothing', { perPattern: 0 }],
    ['half an attempt', { perPattern: 2.5 }],
    ['a number as text', { perPattern: '3' }],
    ['more than always', { probeRate: 1.1 }],
    ['less than never', { probeRate: -0.1 }],
    ['no number', { probeRate: Number.NaN }],
    ['a cooldown of nothing', { infraCooldown: { after: 2, seconds: { dns: 0 }, otherSeconds: 900 } }],
    ['an age of nothing', { failureMaxAgeSeconds: 0 }],
  ])('refuses %s', (_what, data) => {
    expect(policy.safeParse(data).success).toBe(false);
  });
});

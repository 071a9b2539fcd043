import { describe, expect, test } from 'bun:test'
import { readConfig } from '#config/config'

describe('EGRESS_ALLOW', () => {
  test('is off by default', () => {
    expect(readConfig({}).egressAllow).toEqual([])
    expect(readConfig({ EGRESS_ALLOW: '' }).egressAllow).toEqual([])
  })

  test('names exact pairs of host and port', () => {
    expect(
      readConfig({ EGRESS_ALLOW: '127.0.0.1:8080,receiver.test:1,[::1]:9' }).egressAllow,
    ).toEqual(['127.0.0.1:8080', 'receiver.test:1', '[::1]:9'])
  })

  test.each([
    '127.0.0.1',
    '127.0.0.1:',
    ':80',
    '*',
    '10.0.0.0/8',
    'http://127.0.0.1:80',
    '127.0.0.1:80-90',
    'a b:80',
    'u@h:80',
    '::1:80',
  ])('does not take %s', (text) =>
    expect(() => readConfig({ EGRESS_ALLOW: text })).toThrow('EGRESS_ALLOW takes host:port'),
  )
})

describe('MCP_STDIO', () => {
  test('lists programs with their arguments and variables', () => {
    expect([readConfig({}).mcpStdio, readConfig({ MCP_STDIO: '' }).mcpStdio]).toEqual([[], []])
    const text =
      '[{"command":"/usr/bin/notes","args":["--a b",""],"env":["NOTES_TOKEN"]},{"command":"x"}]'
    expect(readConfig({ MCP_STDIO: text }).mcpStdio).toEqual([
      { command: '/usr/bin/notes', args: ['--a b', ''], env: ['NOTES_TOKEN'] },
      { command: 'x', args: [], env: [] },
    ])
  })

  test.each([
    ['notes'],
    ['{}'],
    ['["notes"]'],
    ['[{}]'],
    ['[{"command":""}]'],
    ['[{"command":"a\\u0000b"}]'],
    ['[{"command":"a","args":"b"}]'],
    ['[{"command":"a","args":[1]}]'],
    ['[{"command":"a","env":{"A":"b"}}]'],
    ['[{"command":"a","env":["A=B"]}]'],
    ['[{"command":"a","shell":true}]'],
  ])('refuses %s', (text) =>
    expect(() => readConfig({ MCP_STDIO: text })).toThrow('MCP_STDIO must be JSON such as'),
  )

  test.each(['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV', 'PYTHONPATH'])(
    'lets no workspace set %s',
    (name) => {
      const text = JSON.stringify([{ command: 'a', env: [name] }])
      expect(() => readConfig({ MCP_STDIO: text })).toThrow(`such as ${name}`)
    },
  )

  test('takes at most 100 programs', () => {
    const text = JSON.stringify(Array.from({ length: 101 }, () => ({ command: 'a' })))
    expect(() => readConfig({ MCP_STDIO: text })).toThrow('MCP_STDIO must be at most 100 programs')
  })
})

describe('FETCH_ALLOW', () => {
  test('is empty by default, and names each host once', () => {
    expect([readConfig({}).fetchAllow, readConfig({ FETCH_ALLOW: '' }).fetchAllow]).toEqual([
      [],
      [],
    ])
    const hosts = 'Docs.Example.com, *.example.org,docs.example.com,dev.example.com:8443'
    expect(readConfig({ FETCH_ALLOW: hosts }).fetchAllow).toEqual([
      'docs.example.com',
      '*.example.org',
      'dev.example.com:8443',
    ])
  })

  test.each([
    '*',
    '*.com',
    'localhost',
    'https://a.example',
    'a.example/b',
    'a.*.example',
    '.example',
    'a..example',
    'u@a.example',
  ])('does not take %s', (text) =>
    expect(() => readConfig({ FETCH_ALLOW: text })).toThrow('FETCH_ALLOW must be host names'),
  )

  test('takes at most 100 hosts', () => {
    const many = Array.from({ length: 101 }, (_, index) => `h${index}.example`).join()
    expect(() => readConfig({ FETCH_ALLOW: many })).toThrow('FETCH_ALLOW must be at most 100 hosts')
  })
})

test('SANDBOX_COUNTS is all unless it is reactions, and nothing else', () => {
  expect([{}, { SANDBOX_COUNTS: 'reactions' }].map((env) => readConfig(env).sandboxCounts)).toEqual(
    ['all', 'reactions'],
  )
  expect(() => readConfig({ SANDBOX_COUNTS: 'none' })).toThrow(
    'SANDBOX_COUNTS must be all or reactions: none',
  )
})

test('SANDBOX_TIER is free unless it is payg, and nothing else', () => {
  expect([readConfig({}).sandboxTier, readConfig({ SANDBOX_TIER: 'payg' }).sandboxTier]).toEqual([
    'free',
    'payg',
  ])
  expect(() => readConfig({ SANDBOX_TIER: 'paid' })).toThrow(
    'SANDBOX_TIER must be free or payg: paid',
  )
})

test('CONSOLE is on unless it is off, and nothing else', () => {
  expect([readConfig({}).console, readConfig({ CONSOLE: 'off' }).console]).toEqual([true, false])
  expect(() => readConfig({ CONSOLE: 'no' })).toThrow('CONSOLE must be on or off: no')
})

test('RATE_LIMITS is on unless it is off, and nothing else', () => {
  expect([readConfig({}).rateLimits, readConfig({ RATE_LIMITS: 'off' }).rateLimits]).toEqual([
    true,
    false,
  ])
  expect(() => readConfig({ RATE_LIMITS: '0' })).toThrow('RATE_LIMITS must be on or off: 0')
})

test('AGENT_KEEP_DAYS is a number of days that analytics can look back', () => {
  expect([
    readConfig({}).agentKeepDays,
    readConfig({ AGENT_KEEP_DAYS: '31' }).agentKeepDays,
  ]).toEqual([90, 31])
  for (const wrong of ['30', '0', '-1', '36501', 'ever'])
    expect(() => readConfig({ AGENT_KEEP_DAYS: wrong })).toThrow(
      `AGENT_KEEP_DAYS must be a number of days from 31 to 36500: ${wrong}`,
    )
})

test('AUDIT_KEEP_DAYS is a number of days', () => {
  expect([
    readConfig({}).auditKeepDays,
    readConfig({ AUDIT_KEEP_DAYS: '30' }).auditKeepDays,
  ]).toEqual([400, 30])
  for (const wrong of ['0', '-1', '1.5', '36501', 'ever'])
    expect(() => readConfig({ AUDIT_KEEP_DAYS: wrong })).toThrow(
      `AUDIT_KEEP_DAYS must be a number of days from 1 to 36500: ${wrong}`,
    )
})

describe('models', () => {
  const openai = (env: Record<string, string>) =>
    readConfig({ OPENAI_API_KEY: 'sk-test', ...env }).openai

  test('are streamed, hold 128,000 tokens, and none can be named unless told', () => {
    expect(openai({})).toMatchObject({ stream: true, context: 128_000, allow: [], prices: {} })
    expect(openai({ OPENAI_STREAM: 'off', MODEL_CONTEXT: '32768' })).toMatchObject({
      stream: false,
      context: 32_768,
    })
    expect(() => readConfig({ OPENAI_STREAM: 'no' })).toThrow('OPENAI_STREAM must be on or off: no')
  })

  test('MODEL_ALLOW names each model once', () => {
    expect(openai({ MODEL_ALLOW: 'gpt-5, org/llama:8b,,gpt-5' })?.allow).toEqual([
      'gpt-5',
      'org/llama:8b',
    ])
    expect(() => readConfig({ MODEL_ALLOW: 'gpt 5' })).toThrow(
      'MODEL_ALLOW must be names of models, separated by commas: gpt 5',
    )
    const many = Array.from({ length: 101 }, (_, index) => `m${index}`).join()
    expect(() => readConfig({ MODEL_ALLOW: many })).toThrow('MODEL_ALLOW must be at most 100 names')
  })

  test.each(['0', '7999', '10000001', '1e5', '-8000', '8000.5'])(
    'MODEL_CONTEXT is not %s',
    (wrong) =>
      expect(() => readConfig({ MODEL_CONTEXT: wrong })).toThrow(
        `MODEL_CONTEXT must be a number of tokens from 8000 to 10000000: ${wrong}`,
      ),
  )

  test('PRICES gives models prices of their own', () => {
    const prices = {
      'llama-small': { input: 0.1, output: 0 },
      'gpt-5': { input: 1, output: 8, cached: 0.1 },
    }
    expect(openai({ PRICES: JSON.stringify(prices) })?.prices).toEqual(prices)
  })

  test.each([
    ['{', '{'],
    ['[]', '[]'],
    ['null', 'null'],
    ['{"a":1}', 'a has 1'],
    ['{"a":{"input":1}}', 'a has {"input":1}'],
    ['{"a":{"input":-1,"output":1}}', 'a has {"input":-1,"output":1}'],
    ['{"a":{"input":"1","output":1}}', 'a has {"input":"1","output":1}'],
    ['{"a":{"input":1e999,"output":1}}', 'a has {"input":null,"output":1}'],
    ['{"a":{"input":1,"output":1,"cachd":1}}', 'a has {"input":1,"output":1,"cachd":1}'],
    ['{"a b":{"input":1,"output":1}}', 'a b has {"input":1,"output":1}'],
  ])('PRICES is not %s', (text, wrong) =>
    expect(() => readConfig({ PRICES: text })).toThrow(`in dollars per million tokens: ${wrong}`),
  )
})

test('BACKUP_DIR makes backups, and the other variables of backups need it', () => {
  expect(readConfig({}).backups).toBeUndefined()
  expect(readConfig({ BACKUP_DIR: '/backups' }).backups).toEqual({
    folder: '/backups',
    everyMs: 86_400_000,
    keep: 7,
    passphraseFile: undefined,
  })
  const set = { BACKUP_DIR: '/b', BACKUP_EVERY: '90m', BACKUP_KEEP: '2' }
  expect(readConfig(set).backups).toMatchObject({ everyMs: 5_400_000, keep: 2 })
  for (const wrong of ['0h', '24', '1w', '400d', '-1h'])
    expect(() => readConfig({ ...set, BACKUP_EVERY: wrong })).toThrow(
      `BACKUP_EVERY must be a number of minutes, hours or days, up to a year, such as 90m, 24h or 7d: ${wrong}`,
    )
  for (const wrong of ['0', '-1', 'all'])
    expect(() => readConfig({ ...set, BACKUP_KEEP: wrong })).toThrow(
      `BACKUP_KEEP must be a number from 1 to 10000: ${wrong}`,
    )
  expect(() => readConfig({ BACKUP_KEEP: '2' })).toThrow('BACKUP_DIR is not')
})

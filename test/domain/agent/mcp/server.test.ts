import { describe, expect, test } from 'bun:test'
import { flawOfArguments } from '#domain/agent/mcp/offer'
import { cleanedOf, secretsIn, withoutSecrets } from '#domain/agent/mcp/secrets'
import {
  lookFailed,
  type McpServer,
  mcpServerView,
  newMcpServer,
  nextLook,
  placeHash,
  updateMcpServer,
} from '#domain/agent/mcp/server'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'

const now = new Date('2026-11-23T10:00:00Z')
const program = { command: '/usr/bin/notes', args: ['--stdio'], env: ['TOKEN'] }
const rules = { programs: [program], refuse: () => undefined }
const made = (
  config: object = { url: 'https://mcp.example.com/mcp' },
  others: { id: string; tool_prefix: string }[] = [],
) => newMcpServer(newId(), { name: 'Acme', ...config }, { others, rules, now })
const changed = (server: McpServer, patch: object) =>
  updateMcpServer(server, patch, { others: [server], rules, now })

describe('where a server is', () => {
  test('is its origin, command and arguments, and its id', () => {
    const { server } = made()
    expect(placeHash({ ...server, url: 'https://mcp.example.com/other' })).toBe(placeHash(server))
    for (const other of [
      { id: newId() },
      { url: 'https://mcp.example.net/mcp' },
      { url: 'https://mcp.example.com:8443/mcp' },
      { command: 'a' },
      { args: ['a'] },
      { transport: 'stdio' as const },
    ])
      expect(placeHash({ ...server, ...other })).not.toBe(placeHash(server))
  })

  test('takes what belongs to it alone', () => {
    const both = {
      url: 'https://mcp.example.com/',
      command: 'notes',
      args: ['a'],
      headers: { A: 'b' },
      env: { TOKEN: 'c' },
    }
    expect(made({ ...both, transport: 'streamable_http' })).toMatchObject({
      server: { command: null, args: [], env_names: [] },
      env: {},
    })
    expect(made({ ...both, ...program, transport: 'stdio', env: { TOKEN: 'c' } })).toMatchObject({
      server: { url: null, header_names: [], env_names: ['TOKEN'] },
      headers: {},
    })
  })

  test('has no variables but those that the operator names', () => {
    expect(() => made({ ...program, env: { TOKEN: 'a', PATH: 'b' } })).toThrow(AppError)
    expect(made({ ...program, env: { TOKEN: 'a' } }).server.status).toBe('new')
  })

  test.each([
    ['another origin', { url: 'https://other.example.com/' }, { headers: {}, isForgotten: true }],
    [
      'another origin, with headers',
      { url: 'https://other.example.com/', headers: { B: 'c' } },
      { headers: { B: 'c' }, isForgotten: true },
    ],
    [
      'another path',
      { url: 'https://mcp.example.com/other' },
      { headers: undefined, isForgotten: false },
    ],
    ['a program', { ...program, env: {} }, { headers: {}, isForgotten: true }],
  ])('takes no secret along to %s', (_, patch, expected) => {
    const { headers, isForgotten } = changed(
      made({ url: 'https://mcp.example.com/mcp', headers: { A: 'b' } }).server,
      patch,
    )
    expect({ headers, isForgotten }).toEqual(expected as never)
  })

  test('is shown without the values of its query', () => {
    const { server } = made({ url: 'https://mcp.example.com/mcp?key=abc&key=def&a%20b=c' })
    expect(mcpServerView(server).url).toBe('https://mcp.example.com/mcp?key=…&a%20b=…')
  })
})

describe('the next look', () => {
  const { server } = made()
  const at = (more: Partial<McpServer>) =>
    nextLook({ ...server, status: 'ready', ...more }, now)?.getTime()

  test('comes each hour for a week after its last use', () => {
    expect(at({ used_at: now })).toBe(now.getTime() + 3_600_000)
    expect(at({ used_at: new Date(now.getTime() - 7 * 86_400_000) })).toBeUndefined()
    expect(at({ used_at: null })).toBeUndefined()
    expect(at({ used_at: now, enabled: false })).toBeUndefined()
  })

  test('comes later after each failure, and no more unless it is used', () => {
    let failing = server
    const pauses = [1, 2, 3, 4, 5].map(() => {
      failing = lookFailed(failing, 'it is down', now)
      const next = nextLook(failing, now)
      return next && (next.getTime() - now.getTime()) / 60_000
    })
    expect(pauses).toEqual([1, 5, 15, undefined, undefined])
    expect(nextLook({ ...failing, used_at: now }, now)).toEqual(new Date(now.getTime() + 3_600_000))
  })
})

describe('what a server was given', () => {
  const given = secretsIn({
    headers: { Authorization: 'Bearer abcdefgh12', 'X-Short': 'no' },
    env: { TOKEN: 'with "quotes" in it' },
  })

  test('is found whole, and behind its scheme; what is too short would be found anywhere', () => {
    expect(given).toEqual(
      expect.arrayContaining(['Bearer abcdefgh12', 'abcdefgh12', 'with "quotes" in it']),
    )
    expect(given).not.toContain('no')
  })

  test.each([
    ['plain', 'you sent abcdefgh12', 'you sent [a secret of this server]'],
    ['in JSON', JSON.stringify('with "quotes" in it'), '"[a secret of this server]"'],
    ['in an address', encodeURIComponent('with "quotes" in it'), '[a secret of this server]'],
    ['not at all', 'nothing, no', 'nothing, no'],
  ])('is taken out of text, %s', (_, text, expected) => {
    expect(withoutSecrets(text, given)).toBe(expected)
  })

  test('is taken out of names and values', () => {
    expect(cleanedOf({ abcdefgh12: [{ a: 'abcdefgh12' }] }, given) as unknown).toEqual({
      '[a secret of this server]': [{ a: '[a secret of this server]' }],
    })
  })
})

describe('arguments', () => {
  const schema = {
    type: 'object',
    properties: {
      n: { type: 'number' },
      i: { type: ['integer', 'null'] },
      any: {},
      list: { type: 'array' },
    },
    required: ['n'],
  }
  test.each([
    [{ n: 1 }, undefined],
    [{ n: 1.5, i: null, any: { a: 1 }, list: [], more: true }, undefined],
    [{}, 'n is missing'],
    [{ n: '1' }, 'n must be number, not string'],
    [{ n: 1, i: 1.5 }, 'i must be integer or null, not number'],
    [{ n: 1, list: {} }, 'list must be array, not object'],
    [{ n: 1, any: 'a'.repeat(70_000) }, 'the arguments have more than 65536 characters'],
    [{ n: 1, constructor: 'a' }, undefined],
  ])('%j', (args, flaw) => {
    expect(flawOfArguments(args, schema)).toBe(flaw)
  })
})

/** The keys that callers give commands: which are sent, and how. */
import { expect, test } from 'bun:test'
import { cliHome } from '#test/support/cli/home'
import { cli } from '#test/support/cli/host'
import { type Scripted, scriptedServer } from '#test/support/cli/scripted'

const ID = '018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e11'
const home = cliHome()
const MARK = '0c2cce39'
const ok: Scripted = { body: { item: { id: ID, status: 'approved' } } }
const at = (url: string) => ({ env: { TENDRIL_API_URL: url, TENDRIL_API_KEY: 'ak_test' } })
/** A command that is one request. */
const approve = (url: string, ...more: string[]) =>
  cli(['items', 'approve', ID, '--expect-hash', MARK, ...more], at(url))

test.each(['', ' x', 'x\u00a0', 'a\nb', 'a\0b', '\ud800', 'k'.repeat(201), '😀'.repeat(201)])(
  'a key that no header can carry is an input error: %j',
  async (key) => {
    await using server = scriptedServer([ok])
    expect([
      (await approve(server.url, '--idempotency-key', key)).code,
      server.asked.length,
    ]).toEqual([2, 0])
  },
)

test.each(['é', 'ключ 1', 'k'.repeat(200), '😀'.repeat(200)])(
  'a key of any script is sent as UTF-8, with a body and without: %j',
  async (key) => {
    await using server = scriptedServer([ok, ok])
    const ways = [
      ['items', 'approve', ID],
      ['items', 'approve', ID, '--edited-body', 'Docks are slow: 漢'],
    ]
    for (const argv of ways)
      expect((await cli([...argv, '--idempotency-key', key], at(server.url))).code).toBe(0)
    const sent = server.asked.map(({ headers }) =>
      Buffer.from(headers.get('idempotency-key')!, 'latin1').toString('utf8'),
    )
    expect(sent).toEqual([key, key])
    expect(JSON.parse(server.asked[1]!.body)).toEqual({ edited_body: 'Docks are slow: 漢' })
  },
)

test.each([
  [['items', 'approve', ID], { item: { content_hash: MARK, body: 'At nine.' } }],
  [['agent', 'channel-replies', 'send', ID], { reply: { contentHash: MARK, text: 'At nine.' } }],
])(
  'without a key, %j reads the text first, shows it and binds itself to it',
  async (argv, body) => {
    await using server = scriptedServer([{ body }, { body }])
    const session = { token: 'eyperson', expires_at: '2999-01-01T00:00:00Z' }
    const profile = { api_url: server.url, api_key: 'ak_test', session }
    await home.write({ current: 'default', profiles: { default: profile } })
    const { code, err } = await home.run(argv)
    expect([code, err]).toEqual([0, `text ${MARK}: At nine.\n`])
    expect(server.asked.map(({ method }) => method)).toEqual(['GET', 'POST'])
    expect(JSON.parse(server.asked[1]!.body)).toEqual({ expect_hash: MARK })
  },
)

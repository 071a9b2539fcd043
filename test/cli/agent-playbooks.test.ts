/** Playbooks and memories on the command line, at a real server. */
import { expect, test } from 'bun:test'
import { scopes } from '#kernel/scopes'
import { makeMemory } from '#test/support/agent/records'
import { type CliOptions, cli } from '#test/support/cli/host'
import { temporaryFolder } from '#test/support/folder'
import { useEach, useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })
const folder = useEach(temporaryFolder)

const setUp = async () => {
  const { tenantId } = await app.newWorkspace()
  const { api_key: key } = await app.newKey([...scopes], tenantId)
  const run = (argv: string[], options: CliOptions = {}) =>
    cli(['agent', ...argv, '--api-url', app.url, '--api-key', key, '--json'], {
      home: folder.path,
      ...options,
    })
  const body = async (argv: string[], options?: CliOptions) =>
    JSON.parse((await run(argv, options)).out)
  return { tenantId, run, body }
}

const LAUNCH = ['--slug', 'launch-posts', '--name', 'Launch posts']

test('a playbook is added, gets a draft from standard input, and lets it hold', async () => {
  const { run, body } = await setUp()
  const { playbook } = await body([
    'playbooks',
    'create',
    ...LAUNCH,
    '--content',
    'Mention the price.',
    '--pinned',
  ])
  expect(playbook).toMatchObject({
    slug: 'launch-posts',
    content: 'Mention the price.',
    pinned: true,
    status: 'active',
  })
  const draft = [
    'playbooks',
    'add-version',
    playbook.id,
    '--content',
    '-',
    '--rationale',
    'Nobody asks',
  ]
  const { version } = await body(draft, { input: 'Never mention the price.' })
  expect(version).toMatchObject({
    number: 2,
    state: 'draft',
    content: 'Never mention the price.',
    rationale: 'Nobody asks',
  })
  await body(['playbooks', 'activate', playbook.id, version.id])
  expect((await run(['playbooks', 'reject', playbook.id, version.id])).code).toBe(2)
  expect((await body(['playbooks', 'get', playbook.id])).playbook.content).toBe(
    'Never mention the price.',
  )
  expect((await run(['playbooks', 'create', ...LAUNCH, '--content', 'x'])).code).toBe(7)
  await body(['playbooks', 'update', playbook.id, '--status', 'archived'])
  expect((await run(['playbooks', 'list', '--status', 'active'])).out).not.toContain('launch-posts')
  expect((await run(['playbooks', 'list', '--status', 'archived'])).out).toContain('launch-posts')
})

test('memories are listed, found by words and deleted', async () => {
  const { tenantId, run } = await setUp()
  const { id } = await makeMemory({ app, tenantId }, { text: 'Launch posts mention the price' })
  expect((await run(['memories', 'list', '--q', 'prices'])).out).toContain(id)
  expect((await run(['memories', 'list', '--q', 'mondays'])).out).not.toContain(id)
  expect((await run(['memories', 'remove', id])).code).toBe(0)
  expect((await run(['memories', 'get', id])).code).toBe(6)
})

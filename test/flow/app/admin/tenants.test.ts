/** `tendril admin tenant list`, beside a running server. */
import { expect, test } from 'bun:test'
import { insertMember } from '#test/support/database/writes'
import { newDeployment, runAdmin, startServer } from '#test/support/processes/server'
import { use } from '#test/support/use'

const deployment = use(newDeployment)
use(() => startServer(deployment.server))

const admin = (...args: string[]) => runAdmin(deployment.server, 'tenant', ...args)

test('list shows every workspace, newest first, page by page, with its plan and number of people', async () => {
  const { tenantId: first } = await deployment.firstWorkspace()
  const { workspace_id: second } = (await admin('create', '--name', 'Nordfracht')).json
  const person = crypto.randomUUID()
  await deployment.owner`insert into person (id, email, email_key, name, password_hash)
    values (${person}, 'a@example.com', 'a@example.com', 'A', 'x')`
  await insertMember(deployment, second, { personId: person, role: 'owner' })
  const firstPage = await admin('list', '--limit', '1')
  const { workspaces, next_cursor } = firstPage.json
  expect([firstPage.code, firstPage.out.split('\n').length]).toEqual([0, 2])
  expect(workspaces).toEqual([
    {
      id: second,
      name: 'Nordfracht',
      plan: 'team',
      billing: 'ok',
      paused: false,
      people: 1,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      deletes_at: null,
      erasing: false,
    },
  ])
  const rest = await admin('list', '--limit', '1', '--cursor', next_cursor)
  expect(rest.json).toMatchObject({
    workspaces: [{ id: first, name: 'My workspace', people: 0 }],
    next_cursor: null,
  })
  expect((await admin('list')).json.workspaces).toHaveLength(2)
})

test.each([
  [['--limit', '0'], '--limit must be a whole number from 1 to 100: 0'],
  [['--limit', 'all'], '--limit must be a whole number from 1 to 100: all'],
  [['--cursor', 'x'], 'cursor is not a cursor of this list'],
])('list refuses %j', async (flags, message) => {
  const { code, err } = await admin('list', ...flags)
  expect([code, err]).toEqual([2, `tendril admin: ${message}\n`])
})

/** An account sends one post at a time, whatever becomes of the default account meanwhile. */
import { beforeAll, expect, test } from 'bun:test'
import { connectAccount } from '#ops/operator/admin/workspaces'
import { newGate } from '#test/support/actors/letters'
import { eventually } from '#test/support/app'
import { newStory, type Story } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

/** Closed: what is claimed waits before its send. */
let wire = newGate()
const app = useApp({
  overrides: { failpoints: (name) => (name === 'send.claimed' ? wire.opened : undefined) },
})

/** The most sends at once of each account, by the network's id of it. */
const most = new Map<string, number>()

beforeAll(() => {
  const { sandbox } = app.workplace
  const { publish } = sandbox
  const open = new Map<string, number>()
  sandbox.publish = async (request, signal) => {
    const { externalId } = request.account
    open.set(externalId, (open.get(externalId) ?? 0) + 1)
    most.set(externalId, Math.max(most.get(externalId) ?? 0, open.get(externalId)!))
    // Another one that has no turn yet would begin meanwhile.
    await Bun.sleep(20)
    const result = await publish(request, signal)
    open.set(externalId, open.get(externalId)! - 1)
    return result
  }
})

interface Account {
  id: string
  external_id: string
}

/**
 * A workspace with two accounts, the first of which is the default, and items approved before it
 * had any.
 */
const twoAccounts = async (unbound: number) => {
  const story = await newStory(app)
  const [before] =
    await app.owner`select handle from connection where tenant_id = ${story.tenantId}`
  await story.send('DELETE', 'connection')
  const free: string[] = []
  while (free.length < unbound) free.push(await story.approved())
  for (const handle of [before!.handle, `${before!.handle}-2`])
    await connectAccount(app.workplace.world, story.tenantId, {
      network: 'sandbox',
      ...(await app.workplace.sandbox.connect(story.tenantId, handle)),
    })
  const accounts = await app.owner<
    Account[]
  >`select id, external_id from connection where tenant_id = ${story.tenantId} order by id`
  const makeDefault = ({ id }: Account) => story.send('POST', `connections/${id}/default`)
  return { story, free, accounts: accounts as unknown as [Account, Account], makeDefault }
}

const due = (story: Story, id: string) =>
  story.send('POST', `items/${id}/schedule`, { body: { post_at: new Date().toISOString() } })

/** The keys of an item's send: the row's, and whether it runs. */
const sendOf = async (id: string) =>
  (await app.owner`select concurrency_key as key, state from work where ref_id = ${id}`)[0] as {
    key: string | null
    state: string
  }
const runs = (id: string) =>
  eventually(
    () => sendOf(id),
    (row) => row.state === 'running',
  )

test('the default changes in the middle of a send: the key of what runs stays, and no account sends two at once', async () => {
  const { story, free, accounts, makeDefault } = await twoAccounts(4)
  const [first, second] = accounts
  const [one, two, three, four] = free as [string, string, string, string]
  wire = newGate()
  await due(story, one)
  expect(await runs(one)).toEqual({ key: `publish:${first.external_id}`, state: 'running' })
  await makeDefault(second)
  await due(story, two)
  expect(await runs(two)).toEqual({ key: `publish:${second.external_id}`, state: 'running' })
  // One that is bound to the account that sends, and one that would go out by the default: neither
  // has a way free.
  const bound = await story.approved()
  await due(story, bound)
  await due(story, three)
  await makeDefault(first)
  await due(story, four)
  await story.send('GET', 'items')
  expect(await Promise.all([bound, three, four].map(sendOf))).toEqual([
    { key: `publish:${second.external_id}`, state: 'queued' },
    { key: null, state: 'queued' },
    { key: null, state: 'queued' },
  ])
  expect(await Promise.all([one, two].map(sendOf))).toEqual([
    { key: `publish:${first.external_id}`, state: 'running' },
    { key: `publish:${second.external_id}`, state: 'running' },
  ])
  wire.open()
  for (const id of [one, two, three, four, bound])
    expect((await story.settled(id, 'posted')).status).toBe('posted')
  const accountOf = async (id: string) => (await story.item(id)).account
  expect(await Promise.all([one, two, bound, three, four].map(accountOf))).toEqual([
    ...[first, second, second, first, first].map(({ external_id }) => external_id),
  ])
  expect([first, second].map(({ external_id }) => most.get(external_id))).toEqual([1, 1])
})

test('a send that goes back to the queue stays with the account that it was claimed for', async () => {
  const { story, free, accounts, makeDefault } = await twoAccounts(1)
  const [id] = free as [string]
  wire = newGate()
  await due(story, id)
  await runs(id)
  await story.send('POST', 'automation/pause-all')
  wire.open()
  await makeDefault(accounts[1])
  expect(await sendOf(id)).toEqual({ key: `publish:${accounts[0].external_id}`, state: 'queued' })
  await story.send('POST', 'automation/resume-all')
  expect((await story.settled(id, 'posted')).account).toBe(accounts[0].external_id)
})

test('posts with the same text that are due together go out one after the other', async () => {
  const story = await newStory(app)
  wire = newGate()
  const ids = [
    await story.approved('Three times.'),
    await story.approved('Three times.'),
    await story.approved('Three times.'),
  ]
  for (const id of ids) await due(story, id)
  wire.open()
  for (const id of ids) await story.settled(id, 'posted')
  expect(await story.posts()).toEqual({ 'Three times.': 3 })
  expect(most.get(story.account)).toBe(1)
})

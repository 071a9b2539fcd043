/**
 * Linked senders of channels: they act as the members behind them, as long as they are linked, and
 * nothing of them comes back with a person.
 */
import { beforeEach, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { overJob, stepsIn, turn } from '#test/support/agent/agent'
import { channelAdmin } from '#test/support/channels/channels'
import { channelJobs, devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { connectionRow, identityRow } from '#test/support/channels/senders'
import { newWorkspace } from '#test/support/contract/prepare'
import { eventually } from '#test/support/eventually'
import { scriptedModel } from '#test/support/model/scripted-model'
import { joinAs, PASSWORD } from '#test/support/people'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

type Calls = [name: string, args: object][]

const script: { calls: Calls } = { calls: [] }
beforeEach(() => {
  script.calls = []
})
const thinker = scriptedModel((_, answers) =>
  answers === 0 && script.calls.length > 0 ? { calls: script.calls } : { text: 'Seen.' },
)
const app = useApp({ model: thinker })

/**
 * A channel, and two members with a linked sender and a code that is not used yet: `ada`, who
 * leaves, and `bob`.
 */
const place = async () => {
  const { tenantId } = await app.newWorkspace()
  const { key: owner } = await channelAdmin(app, tenantId)
  const channel = await devChannel(app, {}, tenantId)
  const member = async (sender: string) => {
    const { email, personId, access: key } = await joinAs(app, { tenantId, role: 'editor' })
    await linked(app, channel, sender, personId)
    const { body } = await app.send('POST', `/api/v1/channels/${channel.id}/link-code`, { key })
    return { email, personId, key, code: body.code as string }
  }
  return { tenantId, owner, channel, ada: await member('ada'), bob: await member('bob') }
}
type Place = Awaited<ReturnType<typeof place>>

const say = async ({ channel }: Place, sender: string, text: string) => {
  expect((await postDev(app.url, channel, { sender, text })).status).toBe(200)
  return (await channelJobs(app, channel)).at(-1)!.on_behalf
}

/** In the order in which they joined. */
const left = async ({ tenantId }: Place) => [
  (
    await app.owner`select person_id from channel_identity where tenant_id = ${tenantId} order by 1`
  ).map(({ person_id }) => person_id),
  (
    await app.owner`select person_id from channel_link_code where tenant_id = ${tenantId}
      order by 1`
  ).map(({ person_id }) => person_id),
]

test.each([['leaves', 'ada'] as const, ['is removed', 'owner'] as const])(
  'the sender of a member who %s and joins again is a stranger, and its code is of no use',
  async (_, by) => {
    const here = await place()
    const { ada, bob, owner, tenantId, channel } = here
    expect(await say(here, 'ada', 'Hello')).toMatchObject({ personId: ada.personId })
    const { status } = await app.send('DELETE', `/api/v1/app/members/${ada.personId}`, {
      key: by === 'ada' ? ada.key : owner,
    })
    expect(status).toBe(200)
    expect(await left(here)).toEqual([[bob.personId], [bob.personId]])
    expect((await joinAs(app, { tenantId, role: 'owner', email: ada.email })).personId).toBe(
      ada.personId,
    )
    expect(await say(here, 'ada', 'Hello again')).toEqual({
      kind: 'channel',
      id: channel.id,
      personId: null,
    })
    expect(await say(here, 'ada', ada.code)).toMatchObject({ personId: null })
    expect(await say(here, 'bob', 'Hello')).toMatchObject({ personId: bob.personId })
  },
)

test('a person who is erased is erased from the channels of every workspace', async () => {
  const [here, there] = [await place(), await place()]
  const { ada } = here
  const again = await joinAs(app, { tenantId: there.tenantId, role: 'editor', email: ada.email })
  await linked(app, there.channel, newId(), again.personId)
  expect(
    (
      await app.send('DELETE', '/api/v1/app/person', {
        key: ada.key,
        body: { current_password: PASSWORD },
      })
    ).status,
  ).toBe(200)
  expect(await left(here)).toEqual([[here.bob.personId], [here.bob.personId]])
  expect(await left(there)).toEqual([
    [there.ada.personId, there.bob.personId],
    [there.ada.personId, there.bob.personId],
  ])
})

test('only the system unlinks a person', async () => {
  const { ada, tenantId } = await place()
  const call = app.workplace.db.read(
    { tenantId },
    (sql) => sql`select unlink_person(${ada.personId}, ${[tenantId]})`,
  )
  expect(await call.then(String, ({ code }) => code)).toBe('42501')
})

/** Stands in the profile of the workspace alone. */
const CANARY = 'zanzibar'

/** A workspace, and a member with a linked sender, by whom turns are asked for. */
const linkedSender = async (role: 'owner' | 'approver' | 'editor') => {
  const workspace = await newWorkspace(app)
  const person = await signedIn(app, workspace.tenantId, role)
  const id = await identityRow(workspace, {
    connection: await connectionRow(workspace),
    personId: person.personId,
  })
  return { workspace, person, id, by: { kind: 'channel', id, personId: person.personId } as const }
}

test('a linked sender acts as the member, while linked and while a member', async () => {
  const { workspace, person, id, by } = await linkedSender('editor')
  expect(
    (await app.send('PUT', 'profile', { key: workspace.key, body: { goal: CANARY } })).status,
  ).toBe(200)
  const ask = async () => {
    script.calls = [
      ['growth_add_learning', { kind: 'worked', note: `Short ones work. ${newId()}` }],
    ]
    const job = await overJob(
      app,
      await turn(app, { content: 'Learn this', by, tenantId: workspace.tenantId }),
    )
    return { job, steps: (await stepsIn(app, job.id)).filter(({ kind }) => kind === 'tool') }
  }
  expect((await ask()).steps).toMatchObject([{ name: 'growth_add_learning', state: 'done' }])
  expect(thinker.turns.at(-1)!.system).toContain(CANARY)
  await app.owner`update member set role = 'viewer' where tenant_id = ${workspace.tenantId}
    and person_id = ${person.personId}`
  expect((await ask()).steps).toMatchObject([{ name: 'growth_add_learning', state: 'failed' }])
  // Nobody else is behind this identity.
  const other = await signedIn(app, workspace.tenantId, 'owner')
  const forged = await turn(app, {
    content: 'x',
    by: { ...by, personId: other.personId },
    tenantId: workspace.tenantId,
  })
  expect(await overJob(app, forged)).toMatchObject({ error: 'caller_gone' })
  await app.owner`delete from channel_identity where id = ${id}`
  expect((await ask()).job).toMatchObject({ status: 'failed', error: 'caller_gone' })
})

test('a linked sender who has left the workspace asks nothing of it', async () => {
  const { workspace, person, by } = await linkedSender('approver')
  await app.owner`delete from member where tenant_id = ${workspace.tenantId}
    and person_id = ${person.personId}`
  const job = await turn(app, { content: 'x', by, tenantId: workspace.tenantId })
  expect(await overJob(app, job)).toMatchObject({ status: 'failed', error: 'caller_gone' })
})

test('what a linked sender writes is asked for in so many words, and its writes are asked where the name can be forged', async () => {
  const { workspace, by } = await linkedSender('owner')
  script.calls = [
    ['growth_add_learning', { kind: 'worked', note: `Short ones work. ${newId()}` }],
    ['fetch_url', { url: 'https://en.wikipedia.org/wiki/Parcel' }],
  ]
  await turn(app, {
    content: 'Learn this',
    by,
    tenantId: workspace.tenantId,
    taint: ['channel email'],
    untrusted: true,
  })
  const asked = async () => {
    const { approvals } = (
      await app.send('GET', '/api/v1/agent/approvals?status=pending', { key: workspace.key })
    ).body
    return approvals.map(({ tool_name, why }: { tool_name: string; why: string[] }) => [
      tool_name,
      why,
    ])
  }
  const found = await eventually(asked, (list: unknown[]) => list.length === 2)
  expect(found.toSorted()).toEqual([
    [
      'fetch_url',
      ['a message that anybody could have written has begun the job', 'untrusted: channel email'],
    ],
    ['growth_add_learning', ['untrusted: channel email']],
  ])
  expect(thinker.turns.at(-1)!.messages).toContainEqual({ role: 'user', text: 'Learn this' })
})

test('schedules that a linked sender made end with the link', async () => {
  const { workspace, id, by } = await linkedSender('owner')
  script.calls = [['create_webhook_rule', { name: 'Orders', goal: 'Look' }]]
  const job = await turn(app, { content: 'Make a rule', by, tenantId: workspace.tenantId })
  const pending = async () =>
    (await app.owner`select id from agent_approval where job_id = ${job}`)[0]
  const approval = await eventually(pending, (found) => found !== undefined)
  const approved = await app.send('POST', `/api/v1/agent/approvals/${approval!.id}/approve`, {
    key: workspace.session,
    body: {},
  })
  expect(approved.status).toBe(200)
  await overJob(app, job)
  const rules = async () =>
    (await app.send('GET', '/api/v1/agent/webhook-rules', { key: workspace.key })).body.webhookRules
  expect(await rules()).toMatchObject([{ enabled: true, disabledBy: null }])
  await app.owner`delete from channel_identity where id = ${id}`
  expect(await rules()).toMatchObject([{ enabled: false, disabledBy: 'caller_gone' }])
})
